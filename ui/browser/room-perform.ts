// Makes the calls of a learner's page: those that a learner's key allows go to its place in the room, and all others are refused here.

import type { HttpTarget } from "../../src/client/http-transport.ts";
import { type Call, isControl, type Perform } from "../wire/control-calls.ts";
import { perform } from "./fetch-perform.ts";

/** A learner's place in a room, as the address of the page names it. */
export interface Place {
  room: string;
  key: string;
}

/** `#room/CODE/KEY`: a browser never sends this part of an address. */
export function placeIn(hash: string): Place | undefined {
  const [, room, key] = /^#room\/([\w-]+)\/([\w-]+)$/.exec(hash) ?? [];
  return room === undefined || key === undefined ? undefined : { room, key };
}

interface Route {
  method: string;
  /** The path of a call of the dashboard. */
  path: RegExp;
  /** The path below the learner's place. */
  to(path: string): string;
  /** The part of the reply that the dashboard expects. Default: all of it. */
  part?: "learner" | "lesson";
}

const ROUTES: readonly Route[] = [
  { method: "GET", path: /^\/(?:requests|deliveries)(?:\/\w+)?(?:\?|$)|^\/verdicts(?:\?|$)/, to: (path) => path },
  { method: "GET", path: /^\/learners\/\w+$/, to: () => "", part: "learner" },
  { method: "GET", path: /^\/lessons\/[\w-]+\?/, to: () => "", part: "lesson" },
  { method: "POST", path: /^\/learners\/\w+\/(?:hint|skip|lesson)$/, to: (path) => path.replace(/^\/learners\/\w+/, ""), part: "learner" },
];

export const performInRoom =
  (place: Place): Perform =>
  async (target, call) => {
    if (!isControl(call)) return perform(target, call);
    const route = ROUTES.find(({ method, path }) => method === call.method && path.test(call.path));
    if (!route) throw new Error("Only the host of the workshop can do this.");
    const reply = await askRoom(target, place, { ...call, path: route.to(call.path) });
    return (route.part ? { ...reply, body: (reply.body as Record<string, unknown>)[route.part] } : reply) as never;
  };

/** A call below the learner's place. */
export const askRoom = <Reply>(target: HttpTarget, { room, key }: Place, call: Call<Reply>) =>
  perform(target, { ...call, path: `/room/${room}/learners/${key}${call.path}` } as Call<Reply>);
