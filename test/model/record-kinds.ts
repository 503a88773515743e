// The kinds of records by name, and every type of event.

import type { Kind } from "./kind-parts.ts";
import { appraisal, disciplinaryRecord, endpoint, govPayment, payroll, remittance, settings, syncLog } from "./office-kinds.ts";
import {
  booking,
  customer,
  merchant,
  order,
  organizer,
  payment,
  payout,
  payoutMethod,
  pricingRule,
  product,
  renewal,
  variant,
} from "./sales-kinds.ts";

export type { Fields, Home, Kind } from "./kind-parts.ts";

export const kinds = {
  merchant,
  customer,
  payment,
  payout,
  payout_method: payoutMethod,
  marketplace_order: order,
  pricing_rule: pricingRule,
  booking,
  payroll,
  disciplinary_record: disciplinaryRecord,
  appraisal,
  membership_renewal: renewal,
  event_organizer: organizer,
  sync_log: syncLog,
  product,
  product_variant: variant,
  remittance,
  statutory_settings: settings,
  gov_payment: govPayment,
  webhook_endpoint: endpoint,
} satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

/** Events that operations emit in addition to those of creation and transitions. */
const TOLD_BY_OPERATIONS = ["merchant.created", "payroll_item.overridden", "gov_payment.posted"];

/** Every event type the service sends. */
export const eventTypes: ReadonlySet<string> = new Set([
  ...TOLD_BY_OPERATIONS,
  ...Object.values<Kind>(kinds).flatMap(({ emits }) => Object.values(emits)),
]);
