// A question before something is destroyed: y does it, anything else leaves it.

import { plain } from "../details/detail-lines.ts";
import { just, lifted, type Overlay, type State, type Step, say } from "../state/state.ts";
import { tint } from "../terminal/style.ts";
import { type Call, curlOf } from "../wire/control-calls.ts";

export const confirm = (question: string, call: Call, yes: (state: State) => Step): Overlay => ({
  title: "Sure?",
  scroll: 0,
  lines: ({ target, look }, width) => [
    "",
    ...plain(question, width).map((line) => tint(look, line, "bold")),
    "",
    "y does it; any other key leaves everything as it is.",
    "",
    ...plain(curlOf(target, call), width).map((line) => tint(look, line, "dim")),
  ],
  actions: [
    { keys: ["y"], label: "yes", words: "do it", run: (state) => yes(lifted(state)) },
    { keys: ["n"], label: "no", words: "leave everything as it is", run: left },
  ],
  type: (state, key) => (key === "y" ? yes(lifted(state)) : left(state)),
});

const left = (state: State): Step => just(say(lifted(state), "Left as it was", "dim"));
