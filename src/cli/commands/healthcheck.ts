// `healthcheck`: exits with 0 if a sandbox is ready, for the health check of a container.

import { exitCodes } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { connectionFlags, findSandbox } from "../remote/find-sandbox.ts";
import { whyNotReady } from "../remote/probe.ts";

export const healthcheck = command({
  summary: "exit with 0 if a sandbox is ready, else with 1; print nothing",
  usage: "healthcheck",
  flags: connectionFlags,
  async run({ flags }) {
    const { url, controlToken } = await findSandbox(flags);
    return (await whyNotReady(url, controlToken)) === undefined ? exitCodes.ok : exitCodes.runtime;
  },
});
