// Actions in one line, as a request brings them along and a command takes them: `status=503; retryAfter=2`.

import type { ApiEffect, ApiPhase, InlineFault } from "../contracts/fault.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { Action } from "./action.ts";
import { actionNamed, checkAction } from "./read-rule.ts";

/** Several are parted by commas; the fields of one by semicolons, the first of which may be given with the action itself. */
export function readBrought(text: string): InlineFault[] {
  return text.split(",").map((part) => {
    const [first = "", ...rest] = part.split(";").map((field) => field.trim());
    const [type, value] = cutAt(first);
    const action = actionNamed(type.replaceAll("-", "_"));
    if (action.target !== "api")
      fail(
        "validation_failed",
        `X-Sandbox-Inject takes actions on calls; ${action.type} acts on deliveries. Add a rule: POST /_sandbox/faults.`,
      );
    const fields = readFields(action, value, rest.map(cutAt));
    checkAction(action, fields);
    if (action.phase === "read")
      fail(
        "validation_failed",
        `${action.type} needs a rule: what a read may fall back to is kept from the moment at which the rule comes.`,
      );
    const effect = action.prepare(fields)({ progress: 1, chance: () => 0.5 }) as ApiEffect;
    return { phase: action.phase as ApiPhase, action: action.type, effect };
  });
}

/** An action from texts: the value of its main field, and others by name. */
export function readFields(
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
      fail("validation_failed", `${action.type} has no field ${name}.${didYouMean(name, known) || ` It has ${known.join(", ")}.`}`);
    return [name, meant(schema, text)];
  });
  return { type: action.type, ...Object.fromEntries(fields) };
}

/** The value that a text stands for, as far as the field's shape tells; a name without a value is yes. */
function meant(schema: TSchema, text: string | undefined): unknown {
  const { type, anyOf = [] } = schema as { type?: string; anyOf?: { type?: string }[] };
  const types = [type, ...anyOf.map((one) => one.type)];
  if (text === undefined) return true;
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (text.startsWith("{")) return parsed(text);
  if (!types.some((one) => one === "number" || one === "integer")) return text;
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : ((type === "number" ? tryParseDuration(text) : undefined) ?? text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function cutAt(text: string): [string, string | undefined] {
  const cut = text.indexOf("=");
  return cut === -1 ? [text, undefined] : [text.slice(0, cut).trim(), text.slice(cut + 1).trim()];
}
