// `clock`: shows or changes the clock of a running sandbox.

import { SandboxError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { command, print, subcommandNamed } from "../command.ts";
import { type Running, running, runningFlags } from "../remote/running-sandbox.ts";

interface ClockState {
  mode: string;
  now: string;
  /** What an advance played. */
  attempts?: Attempt[];
}

interface Attempt {
  at: string;
  id: string;
  eventType: string;
  eventId: string;
  status: string;
}

const moves: Record<string, (sandbox: Running, value: string | undefined) => Promise<ClockState>> = {
  show: (sandbox) => sandbox.control("GET", "/clock"),
  advance: (sandbox, by) => sandbox.control("POST", "/clock/advance", { by: needed(by, "advance 1h") }),
  freeze: (sandbox, now) => sandbox.control("PUT", "/clock", now === undefined ? { mode: "frozen" } : { mode: "frozen", now }),
  set: (sandbox, now) => sandbox.control("PUT", "/clock", { mode: "offset", now: needed(now, "set 2026-01-05T09:00:00Z") }),
  real: (sandbox) => sandbox.control("PUT", "/clock", { mode: "real" }),
};

export const clock = command({
  summary: "show or change the clock; advance runs everything that falls due",
  usage: "clock [advance <duration> | freeze [time] | set <time> | real]",
  positionals: 2,
  flags: runningFlags,
  async run({ flags, positionals: [move = "show", value] }) {
    const { mode, now, attempts = [] } = await subcommandNamed("clock", moves, move)(running(flags), value);
    for (const { at, id, eventType, eventId, status } of attempts)
      print(escapeControlCharacters(`${at} ${id} ${eventType} ${eventId} ${status}`));
    print(`${now} (${mode})`);
    return undefined;
  },
});

function needed(value: string | undefined, example: string): string {
  if (value !== undefined) return value;
  throw new SandboxError(`An argument is missing, as in merchant-sandbox clock ${example}.`, "usage");
}
