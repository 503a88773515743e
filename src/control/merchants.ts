// Merchants from outside: one more for whoever wants a world of his own, and the way back to the fixtures.

import { oneOf, Type, text } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

export const Merchant = Type.Object(
  {
    id: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    email: Type.Union([Type.String(), Type.Null()]),
    apiKeys: Type.Array(Type.String()),
  },
  { title: "merchant" },
);

export const listMerchants = endpoint({
  id: "merchants.list",
  area: "Merchants",
  method: "GET",
  path: "/merchants",
  summary: "The merchants there are, and their API keys",
  reply: Type.Object({ object: oneOf(["list"], "Always `list`"), data: Type.Array(Merchant) }),
  handle: ({ tenants }) => ({ object: "list" as const, data: tenants.list() }),
});

export const mintMerchant = endpoint({
  id: "merchants.mint",
  area: "Merchants",
  method: "POST",
  path: "/merchants",
  summary: "A new merchant with everything that a fixture has",
  description: "Its records have the fixture's ids, and nobody else sees them: each test can have its own, all at once.",
  body: Type.Object({ fixture: Type.Optional(text("Which fixture; lodge unless given")) }),
  example: { fixture: "lodge" },
  reply: Type.Object({ merchant: Type.String(), apiKey: Type.String() }),
  status: 201,
  errors: ["validation_failed"],
  handle: ({ body, world }) => world.mint(body.fixture ?? "lodge"),
});

export const removeMerchant = endpoint({
  id: "merchants.remove",
  area: "Merchants",
  method: "DELETE",
  path: "/merchants/{id}",
  summary: "Remove a merchant with everything it has",
  reply: Type.Object({ removed: Type.String() }),
  errors: ["resource_not_found"],
  handle({ params, world }) {
    world.remove(params.id);
    return { removed: params.id };
  },
});

export const reset = endpoint({
  id: "sandbox.reset",
  area: "Merchants",
  method: "POST",
  path: "/reset",
  summary: "Back to the fixtures, ids and all",
  description:
    "Everything, or one merchant. Records, keys, endpoints, events, deliveries, remembered answers, windows and journal start afresh.",
  body: Type.Object({ merchant: Type.Optional(text("Only this one")) }),
  example: {},
  reply: Type.Object({ reset: Type.String({ description: "The merchant, or `everything`" }) }),
  errors: ["validation_failed", "resource_not_found"],
  handle({ body, world }) {
    world.reset(body.merchant);
    return { reset: body.merchant ?? "everything" };
  },
});
