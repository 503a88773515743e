// `clock`: shows or changes the clock of a running sandbox.

import type { Clock, ClockAdvanceReply } from "../../../generated/control-api.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Flags } from "../arguments.ts";
import { command, commandGroup } from "../command.ts";
import { happenedLines } from "../output/happened.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";

const flags = { json: { description: "print the whole reply as one JSON object" }, ...connectionFlags };

type ClockChange = (sandbox: RunningSandbox, value: string | undefined) => Promise<Clock & Partial<ClockAdvanceReply>>;

/** The words of the usage stand for the fields of the API in its errors. */
const move = (usage: string, summary: string, positionals: number, run: ClockChange) =>
  command({
    usage: `clock ${usage}`,
    summary,
    positionals,
    flags,
    async run({ flags, positionals: [value] }) {
      const reply = await run(await connectToSandbox(flags, { by: "<duration>", now: "<time>" }), value);
      show(reply, flags);
      return undefined;
    },
  });

export const clock = commandGroup({
  name: "clock",
  summary: "show or change the clock; advance plays what falls due, and lists it by day",
  default: "show",
  subcommands: {
    show: move("show", "show the time of the sandbox (the default)", 0, ({ control }) => control.clock.get()),
    advance: move("advance <duration>", "play this much time, such as 1h or 30d", 1, ({ control }, by) =>
      control.clock.advance({ by: needed(by, "advance 1h") }),
    ),
    freeze: move("freeze [time]", "stop the clock, at this time or now", 1, ({ control }, now) =>
      control.clock.set({ mode: "frozen", ...(now !== undefined && { now }) }),
    ),
    set: move("set <time>", "let the clock run on from this time, such as 2026-01-05T09:00:00Z", 1, ({ control }, now) =>
      control.clock.set({ mode: "offset", now: needed(now, "set 2026-01-05T09:00:00Z") }),
    ),
    real: move("real", "go back to the time of this machine", 0, ({ control }) => control.clock.set({ mode: "real" })),
  },
});

function show(reply: Clock & Partial<ClockAdvanceReply>, { json }: Flags): void {
  if (json !== undefined) {
    print(JSON.stringify(reply));
    return;
  }
  const { mode, now, attempts = [], happened = [], omitted = 0 } = reply;
  for (const { at, id, eventType, eventId, status } of attempts) print(`${at} ${id} ${eventType} ${eventId} ${status}`);
  for (const line of happenedLines(happened)) print(line);
  if (omitted > 0) print(`${omitted} further changes are left out.`);
  print(`${now} (${mode})`);
}

function needed(value: string | undefined, example: string): string {
  if (value !== undefined) return value;
  throw new SandboxError(`An argument is missing, as in merchant-sandbox clock ${example}.`, "usage");
}
