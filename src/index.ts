// What `import` gives.

export { type FieldError, SandboxError } from "./kernel/errors.ts";
export type { Defect } from "./machine.ts";
export type { GivenOptions as SandboxOptions } from "./options.ts";
export { createSandbox, type Sandbox } from "./sandbox.ts";
export type { Tenant as Merchant } from "./store/tenants.ts";
export { verifySignature } from "./webhooks/signature.ts";
