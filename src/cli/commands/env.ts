// `env`: prints the environment variables that point programs to a running sandbox, in the requested format.

import { appendFileSync } from "node:fs";
import { quoted } from "../../client/curl.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { randomToken } from "../../kernel/random.ts";
import { command } from "../command.ts";
import { printBuildCommand, printText } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox, variablesOf } from "../remote/running-sandbox.ts";
import { endpointForSecret, forwardFlag, fullUrl } from "../remote/webhook-target.ts";

type Variables = Record<string, string>;

const formats: Record<string, (variables: Variables) => void> = {
  shell: (variables) =>
    printText(
      Object.entries(variables)
        .map(([name, value]) => `export ${name}=${quoted(value)}`)
        .join("\n"),
    ),
  json: (variables) => printText(JSON.stringify(variables, null, 2)),
  github: writeForGithub,
};

export const env = command({
  summary: `print environment variables for clients, as in eval "$(${PROGRAM} env)"`,
  usage: "env",
  flags: {
    format: {
      value: "shell|json|github",
      description: "use this format; github writes to $GITHUB_ENV and $GITHUB_OUTPUT",
      defaultText: "shell",
    },
    ...forwardFlag,
    merchant: { value: "merchant", description: "use the API key of this merchant", defaultText: "the first one" },
    ...connectionFlags,
  },
  async run({ flags }) {
    const { format = "shell" } = flags;
    const write = Object.hasOwn(formats, format) ? formats[format] : undefined;
    if (!write)
      usageError(
        `--format takes ${Object.keys(formats).join(", ")}; ` +
          `received "${format}".${didYouMean(format, Object.keys(formats))}`,
      );
    const sandbox = await connectToSandbox(flags, { url: "--forward-to" });
    const { id, key } = await sandbox.merchant(flags.merchant);
    const target = flags["forward-to"] === undefined ? undefined : fullUrl(flags["forward-to"]);
    if (target !== undefined) await sandbox.control.endpoints.register({ url: target, merchant: id });
    const endpoint = await endpointForSecret(sandbox.control.endpoints, id, target === undefined ? [] : [target]);
    write(variablesOf(sandbox, key, endpoint?.secret));
  },
});

/** Sets variables for later steps and outputs of this step. GitHub masks secrets in its logs. */
function writeForGithub(variables: Variables): void {
  const files = ["GITHUB_ENV", "GITHUB_OUTPUT"]
    .map((name) => process.env[name])
    .filter((file) => file !== undefined && file !== "");
  if (files.length === 0)
    usageError("GITHUB_ENV and GITHUB_OUTPUT are not set: --format github works only in a step of GitHub Actions.");
  for (const secret of [variables.MERCHANT_SANDBOX_CONTROL_TOKEN, variables.MERCHANT_WEBHOOK_SECRET])
    if (secret !== undefined) printBuildCommand("add-mask", secret);
  // The delimiter is random, so that no value can end its own block and start another variable.
  const blocks = Object.entries(variables).map(([name, value]) => {
    const delimiter = `end_${randomToken()}`;
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
  });
  for (const file of files) appendFileSync(file as string, blocks.join(""));
}
