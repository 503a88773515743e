// `healthcheck`: exits with 0 if a sandbox is ready, for the health check of a container.

import { exitCodes } from "../../kernel/errors.ts";
import { optionDefinitions, variableOf } from "../../sandbox/options.ts";
import { command } from "../command.ts";
import { whyNotReady } from "../remote/probe.ts";
import { connectionFlags } from "../remote/running-sandbox.ts";

export const healthcheck = command({
  summary: "exit with 0 if a sandbox is ready, else with 1; print nothing",
  usage: "healthcheck",
  flags: {
    ...connectionFlags,
    url: { value: "url", description: "check this sandbox (default: MERCHANT_SANDBOX_URL, else port MERCHANT_SANDBOX_PORT or 4747)" },
  },
  async run({ flags }) {
    const { MERCHANT_SANDBOX_URL: named, [variableOf("port")]: port = optionDefinitions.port.default } = process.env;
    const url = flags.url ?? named ?? `http://127.0.0.1:${port}`;
    const token = flags["control-token"] ?? process.env[variableOf("controlToken")];
    return (await whyNotReady(url, token)) === undefined ? exitCodes.ok : exitCodes.runtime;
  },
});
