// `env`: the variables by which programs find a running sandbox, in the form in which they are to be set.

import { appendFileSync } from "node:fs";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { randomToken } from "../../kernel/random.ts";
import { command, print } from "../command.ts";
import { variablesOf } from "../remote/environment.ts";
import { findPlace, placeFlags } from "../remote/instances.ts";
import { running } from "../remote/running-sandbox.ts";

type Variables = Record<string, string>;

/** Within these quotes a shell leaves everything alone but the quote itself. */
const shellQuoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`;

/** Programs that read such files agree on plain text between these quotes, and on no way to put a quote there. */
function dotenvQuoted(name: string, value: string): string {
  if (!/['\p{Cc}]/u.test(value)) return `'${value}'`;
  throw new SandboxError(`${name} cannot be written for dotenv: it holds a quote or a control character. Take --format json.`);
}

const formats: Record<string, (variables: Variables) => void> = {
  shell: (variables) => printEach(variables, (name, value) => `export ${name}=${shellQuoted(value)}`),
  dotenv: (variables) => printEach(variables, (name, value) => `${name}=${dotenvQuoted(name, value)}`),
  json: (variables) => print(JSON.stringify(variables, null, 2)),
  github: writeForGithub,
};

export const env = command({
  summary: 'the variables of a running sandbox, as in eval "$(merchant-sandbox env)"',
  usage: "env",
  flags: {
    format: { value: "format", description: "shell unless given; dotenv, json, or github, which writes to $GITHUB_ENV and $GITHUB_OUTPUT" },
    for: { value: "merchant", description: "whose key; the first merchant's unless given" },
    ...placeFlags,
  },
  async run({ flags }) {
    const { format = "shell" } = flags;
    const write = Object.hasOwn(formats, format) ? formats[format] : undefined;
    if (!write)
      throw new SandboxError(
        `--format takes ${Object.keys(formats).join(", ")}; received "${format}".${didYouMean(format, Object.keys(formats))}`,
        "usage",
      );
    const place = await findPlace(flags);
    const { key } = await running({ url: place.url, "control-token": place.controlToken }).merchant(flags.for);
    write(variablesOf(place, key));
    return undefined;
  },
});

function printEach(variables: Variables, line: (name: string, value: string) => string): void {
  for (const [name, value] of Object.entries(variables)) print(line(name, value));
}

/** Later steps have the variables; the step itself has outputs of the same names. The token is masked in what GitHub shows. */
function writeForGithub(variables: Variables): void {
  const files = ["GITHUB_ENV", "GITHUB_OUTPUT"].map((name) => process.env[name]).filter((file) => file !== undefined && file !== "");
  if (files.length === 0)
    throw new SandboxError("GITHUB_ENV and GITHUB_OUTPUT are not set: --format github is for a step of GitHub Actions.", "usage");
  const token = variables.MERCHANT_SANDBOX_CONTROL_TOKEN;
  if (token !== undefined) print(`::add-mask::${token.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")}`);
  // A delimiter that nobody can guess: no value can end its own block and begin another one.
  const blocks = Object.entries(variables).map(([name, value]) => {
    const delimiter = `end_${randomToken()}`;
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
  });
  for (const file of files) appendFileSync(file as string, blocks.join(""));
}
