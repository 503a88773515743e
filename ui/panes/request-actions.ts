// What keys do with a request: copy it as curl, and send it again.

import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { MASK } from "../../src/kernel/redact.ts";
import { type WholeRequest, wholeRequest } from "../details/request.ts";
import { type Action, also, calls, just, type State, type Step, say } from "../state/state.ts";
import { type Call, curlOf } from "../wire/control-calls.ts";
import { copyKey, keysOf } from "./copy-key.ts";

type Chosen = (state: State) => RequestMessage | undefined;

export const requestActions = (chosen: Chosen): readonly Action[] => [
  {
    keys: ["y"],
    label: "curl",
    words: "copy the request as curl, its key masked",
    can: (state) => chosen(state) !== undefined,
    run: (state) => whole(state, chosen(state), (later, request, found) => copied(later, request, found, false)),
  },
  {
    keys: ["Y"],
    words: "copy the request as curl with its real key, where that is known",
    can: (state) => chosen(state) !== undefined,
    run: (state) => whole(state, chosen(state), (later, request, found) => copied(later, request, found, true)),
  },
  {
    keys: ["r"],
    label: "send again",
    words: "send the same request again: method, path, body, and the Idempotency-Key where it had one",
    can: (state) => chosen(state) !== undefined,
    run: (state) => whole(state, chosen(state), sentAgain),
  },
  copyKey((state) => chosen(state)?.merchant),
];

/** The journal's copy of a request: rows do not have their bodies. */
function whole(
  state: State,
  request: RequestMessage | undefined,
  then: (state: State, request: RequestMessage, found: WholeRequest) => Step,
) {
  if (!request) return just(state);
  const done = (later: State, { body }: { body: unknown }) => then(later, request, body as WholeRequest);
  return also(say(state, `Fetching ${request.id} …`, "dim"), { kind: "call", call: wholeRequest(request.id), done });
}

function copied(state: State, request: RequestMessage, found: WholeRequest, withKey: boolean): Step {
  const real = keyOf(state, request, found);
  const masked = authorized(found) ? (found.key ?? MASK) : null;
  const call = callOf(request, found, withKey ? (real ?? masked) : masked, OWN_HEADERS);
  const missing =
    withKey && real === undefined ? ", its key masked: it is not known here" : withKey ? " with its real key" : ", its key masked";
  const told = say(state, `Copied as curl${missing}${isWhole(request, found) ? "" : "; parts of it were cut or masked in the journal"}`);
  return also({ ...told, lastCall: call }, { kind: "copy", text: curlOf(state.target, call) });
}

function sentAgain(state: State, request: RequestMessage, found: WholeRequest): Step {
  const key = keyOf(state, request, found);
  if (!isWhole(request, found))
    return just(say(state, `${request.id} cannot be sent again: parts of it were cut or masked in the journal`, "yellow"));
  if (key === undefined)
    return just(say(state, `${request.id} cannot be sent again: the key that it came with is not known here`, "yellow"));
  return calls(
    state,
    callOf(request, found, key, ["idempotency-key", "content-type"]),
    ({ status }) => `Sent ${request.id} again: ${status}`,
  );
}

const authorized = ({ request }: WholeRequest) => Object.hasOwn(request.headers, "authorization");

/** The key that a request came with, as far as it is known: the journal has the last letters of it. Null for one without. */
function keyOf(state: State, { merchant }: RequestMessage, found: WholeRequest): string | null | undefined {
  if (!authorized(found)) return null;
  const hint = found.key?.replace(/^…/, "");
  return hint === undefined ? undefined : keysOf(state, merchant).find((key) => key.endsWith(hint));
}

/** Headers that say what was asked; the others are of the connection, or the client's own. */
const OWN_HEADERS = ["idempotency-key", "content-type", "x-sandbox-inject"];

function callOf({ method, path, query }: RequestMessage, { request }: WholeRequest, key: string | null, wanted: readonly string[]): Call {
  const headers = Object.fromEntries(
    Object.entries(request.headers)
      .filter(([name]) => wanted.includes(name.toLowerCase()))
      .map(([name, value]) => [name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()), String(value)]),
  );
  const hasBody = request.body !== "" && method !== "GET" && method !== "HEAD";
  return {
    method: method as Call["method"],
    path: query === "" ? path : `${path}?${query.replace(/^\?/, "")}`,
    key,
    headers,
    ...(hasBody && { body: request.body }),
  };
}

/** Whether the journal has all of it as it was sent. */
const isWhole = ({ path, query }: RequestMessage, { request }: WholeRequest) =>
  Buffer.byteLength(request.body) === request.bytes && ![path, query, request.body].some((text) => text.includes(MASK));
