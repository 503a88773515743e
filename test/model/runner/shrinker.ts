// The shrinker: removes and simplifies the commands of a failing trace until no smaller trace fails.

import type { Command, Trace } from "./commands.ts";
import type { Failure } from "./run-trace.ts";

/** Resolves to undefined if the trace passes. */
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
    // Drops the commands after the failing command.
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

/** Removes commands in chunks, halving the chunk size down to one, from the end of the trace to its start. */
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

/** Variants of a command, each with one part simplified. */
function simplerCommands(command: Command): Command[] {
  if (command.type === "fault") {
    // A rule that fires on every match is simpler than one that skips some.
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
    ...command.changes.map((_, place) => ({
      ...command,
      changes: command.changes.filter((__, other) => other !== place),
    })),
    ...Object.keys(command.query).map((name) => ({ ...command, query: { ...command.query, [name]: undefined } })),
    ...(command.key === undefined ? [] : [{ ...command, key: undefined }]),
    ...(command.oddity === undefined ? [] : [{ ...command, oddity: undefined }]),
    ...("receiver" in command.address && command.address.receiver !== "ok"
      ? [{ ...command, address: { receiver: "ok" } }]
      : []),
    ...(command.who.nth === 0 ? [] : [{ ...command, who: { ...command.who, nth: 0 } }]),
    ...(command.picks.some(({ nth }) => nth > 0) ? [{ ...command, picks: [plain, plain] }] : []),
  ];
}
