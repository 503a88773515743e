// `compare`: compares recordings of the real service with the sandbox's facts.

import { readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { compare as compareRecording } from "../../compare/compare.ts";
import { readBase } from "../../compare/find-base.ts";
import { LARGEST_BODY, LARGEST_FILE, readHar, readWebhooks, recordingText } from "../../compare/read-recording.ts";
import type { Recording } from "../../compare/recording.ts";
import { comparisonText, matchedNothing, totalsOf } from "../../compare/text.ts";
import { attempt } from "../../kernel/attempt.ts";
import { exitCodes, usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { comparedSandbox } from "../../sandbox/documents.ts";
import { command } from "../command.ts";
import { print, printText } from "../output/print.ts";
import { assumptionsOf, SETTING_ASSUMPTIONS } from "./openapi.ts";

export const compare = command({
  summary: "compare recordings of the real service with the sandbox (exit 3: a difference, 4: nothing matched)",
  usage: "compare [recording.har ...]",
  sandboxOptions: SETTING_ASSUMPTIONS,
  flags: {
    webhooks: { value: "file", description: "the webhooks that the service sent, from receive --log" },
    base: {
      value: "url",
      description: "the address of the service, such as https://api.example.com/v1",
      defaultText: "the address below which most calls match",
    },
    json: { description: "print the result as one JSON object" },
  },
  async run({ flags, options, positionals }) {
    if (positionals.length === 0 && flags.webhooks === undefined)
      usageError(
        `The recording is missing: ${PROGRAM} compare recording.har. docs/real-service.md says how to make one.`,
      );
    const recording = await readRecording(positionals, flags.webhooks);
    const base = flags.base === undefined ? undefined : readBase(flags.base);
    const found = compareRecording(comparedSandbox(await assumptionsOf(options)), recording, base);
    if (flags.json === undefined) printText(comparisonText(found));
    else print(JSON.stringify(found));
    if (matchedNothing(found)) return exitCodes.inconclusive;
    return totalsOf(found).contradicted + found.shapes.length > 0 ? exitCodes.verdict : exitCodes.ok;
  },
});

async function readRecording(files: readonly string[], webhooks: string | undefined): Promise<Recording> {
  const recording: Recording = { exchanges: [], deliveries: [] };
  for (const file of files) {
    const { exchanges, deliveries } = readHar(await read(file), basename(file), attachmentsBeside(file));
    recording.exchanges = recording.exchanges.concat(exchanges);
    recording.deliveries = recording.deliveries.concat(deliveries);
  }
  if (webhooks !== undefined)
    recording.deliveries = recording.deliveries.concat(readWebhooks(await read(webhooks), basename(webhooks)));
  return recording;
}

/** Reads a file beside the recording. Playwright stores bodies there with `content: "attach"`. */
const attachmentsBeside = (file: string) => (name: string) =>
  attempt(() => {
    const path = join(dirname(file), name);
    const found = statSync(path);
    return found.isFile() && found.size <= LARGEST_BODY ? readFileSync(path, "utf8") : undefined;
  });

async function read(file: string): Promise<string> {
  try {
    const found = await stat(file);
    if (!found.isFile() && !found.isDirectory()) usageError(`Cannot read ${file}: it is not a regular file.`);
    const { size } = found;
    if (size > LARGEST_FILE)
      usageError(
        `${file} has ${size} bytes; compare reads at most ${LARGEST_FILE}. ` +
          "Record less, or leave out the bodies of files.",
      );
    return recordingText(await readFile(file), basename(file));
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error)
      return usageError(`Cannot read ${file} (${error.code}).`);
    throw error;
  }
}
