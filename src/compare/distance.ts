// How far a reply of the sandbox is from the recorded one: its status, its headers, and the fields of its body with
// their forms.

import { formOfAny } from "../contracts/value-formats.ts";
import type { HeaderValues } from "./recording.ts";

/** A reply, or a webhook, whose status is 0. */
export interface Reply {
  status: number;
  headers: HeaderValues;
  body: unknown;
}

/** Counts as many fields: the wrong status misleads a client more than a field. */
const STATUS = 10;
/** An error in place of a success, or a success in place of an error. */
const OUTCOME = 100;

/** Names of headers that a service writes, and not a server or a proxy. */
const TELLING = /^(ratelimit-|x-ratelimit-|retry-after|www-authenticate|idempot|x-webhook-)/;

export function distanceOf(recorded: Reply, played: Reply): number {
  const status = recorded.status === played.status ? 0 : STATUS;
  if (recorded.body === undefined) return status;
  const forms = formsIn(recorded);
  // An error in place of a success has nothing of the recorded reply, whatever its form is.
  return isError(recorded) === isError(played) ? status + differences(forms, formsIn(played)) : OUTCOME + forms.size;
}

const isError = ({ status }: Reply) => status >= 400;

type Forms = ReadonlyMap<string, ReadonlySet<string>>;

/** Stands for a value of which the reply shows nothing: null, an empty list, an object without fields. */
const OPEN = "open";

function differences(recorded: Forms, played: Forms): number {
  const isHidden = (path: string, by: Forms) => enclosing(path).some((place) => by.get(place)?.has(OPEN));
  const lacking = (from: Forms, other: Forms) =>
    [...from.keys()].filter((path) => !other.has(path) && !isHidden(path, other)).length;
  const isOther = ([path, forms]: [string, ReadonlySet<string>]) => {
    const others = played.get(path);
    return (
      others !== undefined && !others.has(OPEN) && !forms.has(OPEN) && [...forms].every((form) => !others.has(form))
    );
  };
  return lacking(recorded, played) + lacking(played, recorded) + [...recorded].filter(isOther).length;
}

const enclosing = (path: string) => [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index));

const MOST_DEPTH = 12;

function formsIn(reply: Reply): Forms {
  const { headers, body } = reply;
  const found = new Map<string, Set<string>>();
  const add = (path: string, form: string) => found.set(path, (found.get(path) ?? new Set()).add(form));
  const visit = (path: string, value: unknown, depth: number): void => {
    if (typeof value !== "object" || depth > MOST_DEPTH) return void add(path, formOf(value, isError(reply)));
    const inner =
      value === null ? [] : Array.isArray(value) ? value.map((item) => ["[]", item] as const) : Object.entries(value);
    if (inner.length === 0 || path.endsWith("metadata")) return void add(path, OPEN);
    add(path, Array.isArray(value) ? "list" : "object");
    for (const [name, one] of inner) visit(name === "[]" ? `${path}[]` : `${path}.${name}`, one, depth + 1);
  };
  for (const [name, value] of Object.entries(headers))
    if (TELLING.test(name)) add(`header ${name}`, formOf(value, false));
  visit("body", body, 0);
  return found;
}

const PREFIXED = /^([a-z]{1,12}_)(?=.*\d|[^_]{10,}$)/;

/** The form of a value; of a code in an error, the code. */
function formOf(value: unknown, isError: boolean): string {
  if (typeof value === "number" && !Number.isInteger(value)) return "decimal";
  const known = formOfAny(value);
  if (known !== undefined || typeof value !== "string") return known ?? typeof value;
  if (isError && /^[a-z][a-z_.-]{0,60}$/.test(value)) return `code ${value}`;
  if (/^-?\d+$/.test(value)) return "digits";
  if (/^-?\d+\.\d+$/.test(value)) return "decimal text";
  return PREFIXED.exec(value)?.[1] ?? (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value) ? "UUID" : "text");
}
