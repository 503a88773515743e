// `wait`: comes back when a sandbox is ready, or when it was waited for long enough.

import { realDelay, stopwatch } from "../../kernel/clock.ts";
import { parseDuration } from "../../kernel/duration.ts";
import { exitCodes } from "../../kernel/errors.ts";
import { command, note, print } from "../command.ts";
import { findPlace, placeFlags } from "../remote/instances.ts";
import { whyNotReady } from "../remote/probe.ts";

const PAUSE = 50;

export const wait = command({
  summary: "wait until a sandbox is ready; exit code 1 when it takes too long",
  usage: "wait",
  flags: { timeout: { value: "duration", description: "how long; 30s unless given" }, ...placeFlags },
  async run({ flags }) {
    const timeout = parseDuration(flags.timeout ?? "30s", "--timeout");
    const elapsed = stopwatch();
    for (;;) {
      const { url, controlToken } = await findPlace(flags);
      const why = await whyNotReady(url, controlToken);
      if (why === undefined) {
        print(`Ready at ${url}.`);
        return exitCodes.ok;
      }
      if (elapsed() >= timeout) {
        note(`No sandbox is ready at ${url}: ${why}. Start one with merchant-sandbox start --detach, or say where it is with --url URL.`);
        return exitCodes.runtime;
      }
      await realDelay(PAUSE);
    }
  },
});
