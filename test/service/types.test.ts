// `types`: the TypeScript types of the service.

import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { runCommand } from "../support/commands.ts";
import { temporaryFile } from "../support/temporary-file.ts";

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

test("--out writes them to a file", async () => {
  const file = temporaryFile("", "types.ts");
  const { out } = await runCommand(undefined, "types", "--out", file);
  expect(out).toEqual([`Wrote ${file}.`]);
  expect(declared(readFileSync(file, "utf8"), "ApiError")).toContain("code?: string;");
});
