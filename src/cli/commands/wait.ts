// `wait`: returns when a sandbox is ready, or after a timeout.

import { realDelay, stopwatch } from "../../kernel/clock.ts";
import { parseDuration } from "../../kernel/duration.ts";
import { exitCodes } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { note, print } from "../output/print.ts";
import { connectionFlags, findSandbox } from "../remote/find-sandbox.ts";
import { whyNotReady } from "../remote/probe.ts";

const POLL_INTERVAL = 50;

export const wait = command({
  summary: "wait until a sandbox is ready (exit code 1 after the timeout)",
  usage: "wait",
  flags: { timeout: { value: "duration", description: "wait at most this long (default: 30s)" }, ...connectionFlags },
  async run({ flags }) {
    const timeout = parseDuration(flags.timeout ?? "30s", "--timeout");
    const elapsed = stopwatch();
    for (;;) {
      const { url, controlToken } = await findSandbox(flags);
      const why = await whyNotReady(url, controlToken);
      if (why === undefined) {
        print(`Ready at ${url}.`);
        return exitCodes.ok;
      }
      if (elapsed() >= timeout) {
        note(
          `No sandbox is ready at ${url}: ${why}. Start one with merchant-sandbox start --detach, or name another one with --url <url>.`,
        );
        return exitCodes.runtime;
      }
      await realDelay(POLL_INTERVAL);
    }
  },
});
