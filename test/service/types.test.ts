// `types`: the TypeScript types of the service, plain and under a service file.

import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { runCommand } from "../support/commands.ts";
import { serviceFile } from "../support/service-file.ts";

const syntaxErrors = (source: string) => ts.transpileModule(source, { reportDiagnostics: true }).diagnostics;

/** The declaration of a type, without comments. */
function declared(source: string, name: string): string {
  const [, body = ""] =
    new RegExp(`^export (?:interface|type) ${name} (?:= )?([\\s\\S]*?)(?=\\n\\n|\\n$|$(?![\\s\\S]))`, "m").exec(source) ?? [];
  return body.replaceAll(/^ *\/\*\*.*\*\/\n/gm, "");
}

test("types prints the types of records, bodies, replies, errors and events", async () => {
  const source = (await runCommand(undefined, "types")).out.join("\n");
  expect(syntaxErrors(source)).toEqual([]);
  expect(declared(source, "Payment")).toContain('status: "pending" | "succeeded" | "failed" | "refunded";');
  expect(declared(source, "PricingRulesCreateBody")).toContain("priority?: number | null;");
  expect(declared(source, "PaymentsListReply")).toContain("data: Payment[];");
  expect(declared(source, "ApiError")).toContain("code?: string;");
  expect(declared(source, "WebhookEvent")).toContain("type: string;");
  expect(source).toContain('  | "booking.declined"\n');
});

test("types --service has the names and forms of the service, and --out writes them to a file", async () => {
  const service = serviceFile({
    "payment.customerId.name": "customer",
    "payment.fee": "absent",
    "payment.riskScore": "sometimes",
    "payment.riskScore.type": ["integer"],
    "payment.amount.format": "decimal text",
    "payment.status.values.refunded": "reversed",
    "payments.list.reply.envelope": "items",
    "error.envelope": "errors[]",
    "pricing_rules.create.body.priority.required": true,
    "event.type.values.booking.declined": "booking.rejected",
  });
  const file = `${service}.ts`;
  const { out } = await runCommand(undefined, "types", "--service", service, "--out", file);
  expect(out).toEqual([`Wrote ${file}.`]);
  const source = readFileSync(file, "utf8");
  expect(syntaxErrors(source)).toEqual([]);
  const payment = declared(source, "Payment");
  for (const line of ["customer: string | null;", "riskScore?: number;", "amount: string | null;", '"failed" | "reversed";'])
    expect(payment).toContain(line);
  expect(payment).not.toMatch(/customerId|fee:/);
  expect(source).toContain("/** `pending` → `succeeded`, `failed`; `succeeded` → `reversed`; `failed` is final; `reversed` is final */");
  expect(declared(source, "PaymentsListReply")).toContain("items: Payment[];");
  expect(declared(source, "ErrorReply")).toContain("errors: ApiError[];");
  expect(declared(source, "PricingRulesCreateBody")).toContain("priority: number | null;");
  expect(source).toContain('  | "booking.rejected"\n');
});

test("openapi --service prints the document with the names of the service", async () => {
  const service = serviceFile({ "payment.customerId.name": "customer" });
  const fields = async (...words: string[]) => {
    const document = JSON.parse((await runCommand(undefined, "openapi", ...words)).out.join("\n"));
    return Object.keys(document.components.schemas.Payment.properties);
  };
  expect(await fields()).toContain("customerId");
  expect(await fields("--service", service)).toContain("customer");
  expect(await fields("--service", service)).not.toContain("customerId");
});
