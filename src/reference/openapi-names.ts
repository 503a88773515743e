// The names of operations and schemas in the OpenAPI documents, as code generators use them: letters and digits, and none that hides a built-in type.

import type { TSchema } from "../schema/shapes.ts";
import type { DeclaredOperation } from "./api-surface.ts";
import type { Components } from "./components.ts";
import type { DocumentedKeywords } from "./subschemas.ts";
import { camel, pascal } from "./typescript.ts";

/** `pricing_rules.create` as `pricingRulesCreate`. */
export const operationIdOf = (id: string) => camel(id.replaceAll(".", "_"));

export const bodyNameOf = (id: string) => `${pascal(id)}Input`;

/** `payment.succeeded` as `PaymentSucceededEvent`. */
export const eventNameOf = (type: string) => `${pascal(type)}Event`;

/** The reply's own name; `PaymentList` for a list of payments; otherwise a name that follows from the operation. */
export function replyNameOf({ id, reply }: Pick<DeclaredOperation, "id" | "reply">, { nameOf }: Pick<Components, "nameOf">): string {
  const item = itemOf(reply);
  const itemName = item && nameOf(item);
  return nameOf(reply) ?? (itemName === undefined ? `${pascal(id)}Reply` : `${itemName}List`);
}

/** The items, if the schema is the envelope of a list. */
function itemOf(schema: TSchema): TSchema | undefined {
  const { object, data } = (schema as DocumentedKeywords).properties ?? {};
  return object && data ? (data as DocumentedKeywords).items : undefined;
}
