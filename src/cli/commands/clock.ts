// `clock`: shows or changes the clock of a running sandbox.

import type { Clock, ClockAdvanceReply } from "../../client/control-plane.generated.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { command, subcommandNamed } from "../command.ts";
import { happenedLines } from "../output/happened.ts";
import { print } from "../output/print.ts";
import { connectionFlags, connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";

const moves: Record<string, (sandbox: RunningSandbox, value: string | undefined) => Promise<Clock & Partial<ClockAdvanceReply>>> = {
  show: (sandbox) => sandbox.control.clock.get(),
  advance: (sandbox, by) => sandbox.control.clock.advance({ by: needed(by, "advance 1h") }),
  freeze: (sandbox, now) => sandbox.control.clock.set({ mode: "frozen", ...(now !== undefined && { now }) }),
  set: (sandbox, now) => sandbox.control.clock.set({ mode: "offset", now: needed(now, "set 2026-01-05T09:00:00Z") }),
  real: (sandbox) => sandbox.control.clock.set({ mode: "real" }),
};

const WORDS = { by: "<duration>", now: "<time>" };

export const clock = command({
  summary: "show or change the clock; advance plays what falls due, and lists it by day",
  usage: "clock [advance <duration> | freeze [time] | set <time> | real]",
  positionals: 2,
  flags: { json: { description: "print the whole reply as one JSON object" }, ...connectionFlags },
  async run({ flags, positionals: [move = "show", value] }) {
    const reply = await subcommandNamed("clock", moves, move)(connectToSandbox(flags, WORDS), value);
    if (flags.json !== undefined) {
      print(JSON.stringify(reply));
      return undefined;
    }
    const { mode, now, attempts = [], happened = [], omitted = 0 } = reply;
    for (const { at, id, eventType, eventId, status } of attempts) print(`${at} ${id} ${eventType} ${eventId} ${status}`);
    for (const line of happenedLines(happened)) print(line);
    if (omitted > 0) print(`${omitted} further changes are left out.`);
    print(`${now} (${mode})`);
    return undefined;
  },
});

function needed(value: string | undefined, example: string): string {
  if (value !== undefined) return value;
  throw new SandboxError(`An argument is missing, as in merchant-sandbox clock ${example}.`, "usage");
}
