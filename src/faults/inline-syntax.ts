// The one-line syntax of actions, in X-Sandbox-Inject and on the command line: `status=503; retryAfter=2`.

import { tryParseJson } from "../kernel/attempt.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { Action } from "./action.ts";
import { findAction } from "./read-rule.ts";

/**
 * Parses X-Sandbox-Inject. Commas separate actions, and semicolons separate the fields of an action. `action=value`
 * sets the action's main field.
 */
export function parseInlineActions(text: string): { type: string }[] {
  return text.split(",").map((part) => {
    const [first = "", ...rest] = part.split(";").map((field) => field.trim());
    const [type, value] = splitAtEquals(first);
    const action = findAction(type.replaceAll("-", "_"));
    if (action.target !== "api")
      fail(
        "validation_failed",
        `X-Sandbox-Inject takes actions on calls; ${action.type} acts on deliveries. ` +
          "Add a rule: POST /_sandbox/faults.",
      );
    if (action.phase === "read")
      fail(
        "validation_failed",
        `${action.type} needs a rule: the history of records is kept only while a rule needs it.`,
      );
    return parseActionFields(action, value, rest.map(splitAtEquals));
  });
}

/** Parses an action's fields from text. `main` is the value of the main field, and `others` are fields by name. */
export function parseActionFields(
  action: Action,
  main: string | undefined,
  others: readonly (readonly [string, string | undefined])[],
): { type: string } {
  if (main !== undefined && action.main === undefined)
    fail("validation_failed", `${action.type} takes no value; received ${JSON.stringify(main)}.`);
  const given = [...(main === undefined ? [] : [[action.main as string, main] as const]), ...others];
  const known = Object.keys(action.schema.properties).filter((name) => name !== "type");
  const fields = given.map(([name, text]) => {
    const schema = action.schema.properties[name];
    if (!schema || name === "type")
      fail(
        "validation_failed",
        `${action.type} has no field ${name}.${didYouMean(name, known) || ` It has ${known.join(", ")}.`}`,
      );
    const value = parseValue(schema, text);
    if (name === "ms" && typeof value === "string")
      fail(
        "validation_failed",
        `${action.type} takes a duration such as 600ms or 2s, or a number of milliseconds; received "${value}".`,
      );
    return [name, value];
  });
  return { type: action.type, ...Object.fromEntries(fields) };
}

const BOOLEANS = new Map([
  ["true", true],
  ["false", false],
]);

/** Converts text to the type that the schema asks for; a name without a value is true. */
function parseValue(schema: TSchema, text: string | undefined): unknown {
  const { type, anyOf = [] } = schema as { type?: string; anyOf?: { type?: string }[] };
  const types = [type, ...anyOf.map((one) => one.type)];
  if (text === undefined) return true;
  if (type === "boolean") return BOOLEANS.get(text) ?? text;
  // Validation rejects the text of invalid JSON.
  if (text.startsWith("{")) return tryParseJson(text) ?? text;
  if (!types.some((one) => one === "number" || one === "integer")) return text;
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : ((type === "number" ? tryParseDuration(text) : undefined) ?? text);
}

function splitAtEquals(text: string): [string, string | undefined] {
  const index = text.indexOf("=");
  return index === -1 ? [text, undefined] : [text.slice(0, index).trim(), text.slice(index + 1).trim()];
}
