// What `import` gives.

export type * from "./control/program.ts";
export { type FieldError, SandboxError } from "./kernel/errors.ts";
export type { Defect } from "./machine.ts";
export type { GivenOptions as SandboxOptions } from "./options.ts";
export { type OwnMerchant, ownMerchant } from "./own-merchant.ts";
export { createSandbox, type Sandbox } from "./sandbox.ts";
export { type ConnectOptions, connect } from "./steer.ts";
export { verifySignature } from "./webhooks/signature.ts";
