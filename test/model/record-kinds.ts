// The kinds of records by name, and every type of event.

import type { Kind } from "./kind-parts.ts";
import { officeKinds } from "./office-kinds.ts";
import { salesKinds } from "./sales-kinds.ts";

export type { Fields, Home, Kind } from "./kind-parts.ts";

export const kinds = { ...salesKinds, ...officeKinds };

export type KindName = keyof typeof kinds;

/** Events that operations emit in addition to those of creation and transitions. */
const TOLD_BY_OPERATIONS = ["merchant.created", "payroll_item.overridden", "gov_payment.posted"];

/** Every event type the service sends. */
export const eventTypes: ReadonlySet<string> = new Set([
  ...TOLD_BY_OPERATIONS,
  ...Object.values<Kind>(kinds).flatMap(({ emits }) => Object.values(emits)),
]);
