// Does what a step asks of the world outside: calls, the clipboard, the terminal, the way out.

import { realNow } from "../src/kernel/clock.ts";
import { learning } from "./controls/cached-lookups.ts";
import type { Pace } from "./paint-scheduler.ts";
import { panesOf } from "./panes/index.ts";
import { heardIndex, heardRows } from "./state/apply-message.ts";
import { courseCalls } from "./state/learning.ts";
import { type Effect, just, listOf, type SandboxIndex, type State, type Step, say } from "./state/state.ts";
import { copySequence, MOST_COPIED } from "./terminal/clipboard.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { type Call, perform, Refusal, type Target } from "./wire/control-calls.ts";
import type { Live } from "./wire/live.ts";

/** A dashboard that runs: the one thing here that changes. */
export interface Running {
  target: Target;
  terminal: Terminal;
  pace: Pace;
  live: Live;
  state: State;
  leave(why: Leaving): void;
}

/** Why somebody leaves: to end everything, told so by q or by Ctrl-C, to go on in plain lines, or because the terminal is gone. */
export type Leaving = "quit" | "interrupt" | "plain" | "gone";

export function take(running: Running, step: Step): void {
  running.state = step.state;
  for (const effect of step.effects) act(running, effect);
}

function act(running: Running, effect: Effect): void {
  const { terminal, live, state } = running;
  if (effect.kind === "call") ask(running, effect);
  else if (effect.kind === "copy") copy(running, effect.text);
  else if (effect.kind === "wish")
    live.wish({ requests: listOf(state, "requests").filter, deliveries: listOf(state, "deliveries").filter });
  else if (effect.kind === "refresh") refresh(running);
  else if (effect.kind === "repaint") terminal.renew();
  else if (effect.kind === "suspend") terminal.suspend();
  else running.leave(effect.kind);
}

function ask(running: Running, { call, done, failed }: Effect & { kind: "call" }): void {
  const told = (step: Step) => {
    take(running, step);
    running.pace.now();
  };
  perform(running.target, call).then(
    (answer) => told(done(running.state, answer)),
    (error: Error) => {
      const fields = error instanceof Refusal ? error.fields : [];
      told(failed?.(running.state, error.message, fields) ?? just(say(running.state, error.message, "red")));
    },
  );
}

function copy(running: Running, text: string): void {
  if (Buffer.byteLength(text) <= MOST_COPIED) running.terminal.send(copySequence(text, process.env));
  else running.state = say(running.state, "Too long for the clipboard: ! shows it", "yellow");
}

/** How things stand: asked when something was done, and every second. While the link is down nobody would answer. */
export function refresh(running: Running): void {
  if (running.state.link.phase !== "live") return;
  const learn = (call: Call, learnt: (state: State, body: unknown) => State) =>
    perform(running.target, call).then(
      ({ body }) => {
        running.state = learnt({ ...running.state, now: realNow() }, body);
        running.pace.soon();
      },
      // What could not be asked is asked again in a second; the link tells whether there is anybody to answer.
      () => {},
    );
  for (const effect of [...learning(running.state), ...courseCalls(running.state)]) act(running, effect);
  void learn({ method: "GET", path: "" }, (state, body) => heardIndex(state, body as SandboxIndex));
  for (const { name, asks } of panesOf(running.state))
    if (asks) void learn(asks.call, (state, body) => heardRows(state, name, asks.rows(body)));
}
