// The table of tasks in docs/dashboard.md, with the text that shows that a task is done, and a sandbox in which all
// tasks can be done.

import { readFileSync } from "node:fs";
import { type Bench, open } from "./sandbox.ts";
import { receive, register, settle } from "./webhooks.ts";

const PAGE = readFileSync(new URL("../../docs/dashboard.md", import.meta.url), "utf8");

export interface Task {
  name: string;
  keys: string[];
}

export const tasks: Task[] =
  PAGE.split("| task | keys |\n")[1]
    ?.split("\n\n")[0]
    ?.split("\n")
    .slice(1)
    .map((line) => {
      const [, name = "", keys = ""] = line.split("|").map((cell) => cell.trim());
      const pressed = [...keys.matchAll(/`([^`]+)`/g)].map(([, key = ""]) =>
        key.length > 1 ? key.toLowerCase() : key,
      );
      return { name, keys: pressed };
    }) ?? [];

/** How many keys a task takes in mitmproxy or k9s, for the tasks that one of them can do. */
export const PEER_KEYS: Readonly<Record<string, number>> = {
  "see requests arrive": 0,
  "pause on a row": 1, // `F`
  "filter by a status": 8, // `f~c 404`, Enter
  "see only cut connections": 4, // `f~e`, Enter
  "see the body of a response": 2, // Enter, Tab
  "see the time of each stage": 3, // Enter, Tab, Tab
  "go from a request to its delivery": 1, // Enter, in k9s
  "copy a request as curl": 27,
  "list the keys": 1, // `?`
};

/** The text on the screen after the keys, or the copied text. */
export const RESULTS: Readonly<Record<string, RegExp>> = {
  "see requests arrive": /POST +\/v1\/hos.*decline +200/,
  "pause on a row": /NOT FOLLOWING/,
  "filter by a status": /1 Requests.*\/404 {2}1 of/,
  "see only cut connections": /1 Requests.*\/cut {2}1 of/,
  "see the body of a response": /"status": "declined"/,
  "see the time of each stage": /operation +[\d.,]+ m?s +█/,
  "search in a body": /\/full {2}1 of \d/,
  "go from a request to its delivery": /▸ booking\.declined to http/,
  "go from a delivery to its request": /▸ POST \/v1\/hospitality/,
  "copy a request as curl": /copied: curl .*POST.*decline/,
  "copy a body": /copied: \{"/,
  "replay a delivery": /Replayed booking\.declined|The replay of booking\.declined succeeded/,
  "see whether a delivery arrived": /✓ delivered/,
  "answer an operation with 429": /Armed rate_limit on bookings\.decline/,
  "start an outage of 30 s": /Armed outage .*30/,
  "lose a response": /Armed lost/,
  "slow a call by 500 ms": /Armed latency \(ms 500\) on bookings\.decline/,
  "use up a rate limit": /Exhausted the rate limit/,
  "remove all faults": /Removed \d+ fault/,
  "make a payment succeed": /payment\.succeeded/,
  "advance the clock by a minute": /Clock advanced to 2026-01-05T12:01/,
  "advance the clock by an hour": /Clock advanced to 2026-01-05T13:00/,
  "arm a scenario, and see its score": /LIVE.* [a-z-]+ 0\/\d+ /,
  "see failed verdicts": /▸ 5 Verdicts/,
  "follow one merchant in all panes": /ONLY mer_lodge/,
  "create a merchant and copy its key": /copied: sk_test_/,
  "reset the sandbox": /[Rr]eset/,
  "list the keys": /▸ Keys|▸ .*[Kk]eys|▸ Help/,
  "start an outage, and see its call as curl": /Last call as curl[\s\S]*curl .*\/_sandbox\/faults/,
};

/** A sandbox with a failed verdict, a cut connection, a 404, and a declined booking with its delivery. */
export async function workplace(): Promise<Bench> {
  const bench = await open();
  await register(bench, (await receive()).url);
  await bench.control("POST", "/faults", { action: { type: "rate_limit", retryAfter: 2 } });
  await bench.call("GET", "/v1/payments");
  await bench.call("GET", "/v1/payments");
  await bench.call("GET", "/v1/payouts", { headers: { "x-sandbox-inject": "connection" } }).catch(() => {});
  await bench.call("GET", "/v1/nowhere");
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: { reason: "full" } });
  await settle(bench);
  return bench;
}
