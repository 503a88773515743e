// `healthcheck`: whether a sandbox is ready, as an exit code, for whoever asks every few seconds.

import { exitCodes } from "../../kernel/errors.ts";
import { optionDefinitions, variableOf } from "../../sandbox/options.ts";
import { command } from "../command.ts";
import { whyNotReady } from "../remote/probe.ts";
import { runningFlags } from "../remote/running-sandbox.ts";

export const healthcheck = command({
  summary: "exit code 0 where a sandbox is ready, 1 where it is not; says nothing",
  usage: "healthcheck",
  flags: {
    ...runningFlags,
    url: { value: "url", description: "which; MERCHANT_SANDBOX_URL, or the port of MERCHANT_SANDBOX_PORT or 4747 unless given" },
  },
  async run({ flags }) {
    const { MERCHANT_SANDBOX_URL: named, [variableOf("port")]: port = optionDefinitions.port.default } = process.env;
    const url = flags.url ?? named ?? `http://127.0.0.1:${port}`;
    const token = flags["control-token"] ?? process.env[variableOf("controlToken")];
    return (await whyNotReady(url, token)) === undefined ? exitCodes.ok : exitCodes.runtime;
  },
});
