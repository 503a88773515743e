// Customers: the customer resource and `GET /customers/{id}`.

import { email, Type, text } from "../schema/shapes.ts";
import { endpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { sampleCustomer } from "./samples/sales.ts";

export const customers = resource({
  kind: "customer",
  prefix: "cus",
  view: "customers",
  sample: sampleCustomer,
  livemode: false,
  fields: {
    email: Type.Optional(email("The customer's email address")),
    name: Type.Optional(text("The customer's name")),
    phone: Type.Optional(text("The customer's phone number")),
  },
  created: "customer.created",
  updated: "customer.updated",
});

const getCustomer = endpoint({
  id: "customers.get",
  position: 1,
  area: "Customers",
  method: "GET",
  path: "/customers/{id}",
  summary: "Retrieve a customer",
  exampleParams: { id: "cus_ines" },
  reply: customers.schema,
  errors: ["resource_not_found"],
  handle: ({ params, own }) => own(customers).show(params.id),
});

export const operations = [getCustomer];

export const resources = [customers];
