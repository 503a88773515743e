// Makes a trace that fails as short as it gets, and its commands as plain: whoever reads it shall see what matters.

import type { Command, Trace } from "./commands.ts";
import type { Failure } from "./run-trace.ts";

/** What is found has been played: undefined when the trace does not fail. */
type RunTrace = (trace: Trace) => Promise<Failure | undefined>;

const MAX_TRIES = 600;

export interface ShrunkTrace {
  trace: Trace;
  failure: Failure;
  tries: number;
}

export async function shrink(trace: Trace, failure: Failure, run: RunTrace): Promise<ShrunkTrace> {
  const best: ShrunkTrace = { trace, failure, tries: 0 };
  const stillFails = async (commands: Command[], options: Partial<Trace> = {}): Promise<boolean> => {
    if (best.tries >= MAX_TRIES) return false;
    best.tries++;
    const candidate = { ...best.trace, ...options, commands };
    const found = await run(candidate);
    if (!found) return false;
    // What comes after is no part of it.
    best.trace = { ...candidate, commands: commands.slice(0, found.commands) };
    best.failure = found;
    return true;
  };
  await stillFails(trace.commands.slice(0, failure.commands));
  for (let before = ""; before !== JSON.stringify(best.trace); ) {
    before = JSON.stringify(best.trace);
    await removeCommands(best, stillFails);
    await simplifyCommands(best, stillFails);
    if (best.trace.rateLimit !== "none") await stillFails(best.trace.commands, { rateLimit: "none" });
    if (best.trace.bodies !== "checked") await stillFails(best.trace.commands, { bodies: "checked" });
  }
  return best;
}

type StillFails = (commands: Command[]) => Promise<boolean>;

/** Leaves commands out: halves at first, single ones at last, the later ones before the earlier ones. */
async function removeCommands(best: ShrunkTrace, stillFails: StillFails): Promise<void> {
  for (let size = Math.ceil(best.trace.commands.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let end = best.trace.commands.length; end > 0; end -= size) {
      const { commands } = best.trace;
      await stillFails([...commands.slice(0, Math.max(0, end - size)), ...commands.slice(end)]);
    }
}

async function simplifyCommands(best: ShrunkTrace, stillFails: StillFails): Promise<void> {
  for (let place = 0; place < best.trace.commands.length; place++)
    for (const simpler of simplerCommands(best.trace.commands[place] as Command))
      await stillFails(best.trace.commands.map((command, other) => (other === place ? simpler : command)));
}

/** The command with less in it, one thing at a time. */
function simplerCommands(command: Command): Command[] {
  if (command.type === "fault") {
    // One that fires at every call needs no calls that it lets pass.
    const trigger = { times: 100 };
    const { operation = [], event = [], merchant } = command.match;
    const narrower = [...operation.map((one) => ({ operation: [one] })), ...event.map((one) => ({ event: [one] }))];
    return [
      ...(command.trigger.times < trigger.times ? [{ ...command, trigger }] : []),
      ...((merchant ?? 0) === 0 ? [] : [{ ...command, match: { ...command.match, merchant: 0 } }]),
      ...(narrower.length > 1 ? narrower.map((named) => ({ ...command, match: { ...command.match, ...named } })) : []),
    ];
  }
  if (command.type !== "call") return [];
  const plain = { nth: 0, whose: "own" as const };
  return [
    ...command.changes.map((_, place) => ({ ...command, changes: command.changes.filter((__, other) => other !== place) })),
    ...Object.keys(command.query).map((name) => ({ ...command, query: { ...command.query, [name]: undefined } })),
    ...(command.key === undefined ? [] : [{ ...command, key: undefined }]),
    ...(command.oddity === undefined ? [] : [{ ...command, oddity: undefined }]),
    ...("receiver" in command.address && command.address.receiver !== "ok" ? [{ ...command, address: { receiver: "ok" } }] : []),
    ...(command.who.nth === 0 ? [] : [{ ...command, who: { ...command.who, nth: 0 } }]),
    ...(command.picks.some(({ nth }) => nth > 0) ? [{ ...command, picks: [plain, plain] }] : []),
  ];
}
