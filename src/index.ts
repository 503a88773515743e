// The public API of the package.

export type * from "../generated/control-api.ts";
export type {
  AuditOptions,
  CountEffects,
  CountedExpectation,
  SandboxApi,
  VerifyOptions,
} from "./client/effects.ts";
export { type ConnectOptions, connect } from "./client/http-transport.ts";
export { type OwnMerchant, ownMerchant } from "./client/test-merchant.ts";
export { type FieldError, SandboxError } from "./kernel/errors.ts";
export { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox/create.ts";
export type { Defect } from "./sandbox/engine.ts";
export {
  createTestMerchant,
  openSharedSandbox,
  type SharedSandbox,
  type TestFixtures,
  withMerchant,
} from "./sandbox/shared-sandbox.ts";
export { verifySignature } from "./webhooks/signature.ts";
