// `compare`: compares recordings of the real service with the sandbox's facts.

import { readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { keepNearer } from "../../compare/check-file.ts";
import { type Comparison, compare as compareRecording } from "../../compare/compare.ts";
import { readBase } from "../../compare/find-base.ts";
import { LARGEST_BODY, LARGEST_FILE, readHar, readWebhooks, recordingText } from "../../compare/read-recording.ts";
import type { Recording } from "../../compare/recording.ts";
import { comparisonText, matchedNothing, totalsOf } from "../../compare/text.ts";
import { serviceFileOf, serviceFileText } from "../../compare/write-service.ts";
import { attempt } from "../../kernel/attempt.ts";
import { exitCodes, usageError } from "../../kernel/errors.ts";
import { plural } from "../../kernel/text.ts";
import { comparedSandbox } from "../../sandbox/documents.ts";
import { wholeNumber } from "../../sandbox/options.ts";
import { playRecording } from "../../sandbox/play-recording.ts";
import { readService } from "../../sandbox/service.ts";
import { createFileCheck } from "../../service/file-check.ts";
import type { ServiceFile } from "../../service/service-file.ts";
import { command } from "../command.ts";
import { note, print, printText, writeOutput } from "../output/print.ts";

export const compare = command({
  summary: "compare recordings of the real service with the sandbox (exit 3: a difference, 4: nothing matched)",
  usage: "compare [recording.har ...]",
  flags: {
    service: { value: "file", description: "compare with the sandbox under this service file" },
    write: { value: "file", description: "write the differences as a service file, which start --service takes" },
    "at-least": {
      value: "count",
      description: "with --write: how often a difference must be seen to become a fact (default: 3)",
    },
    webhooks: { value: "file", description: "the webhooks that the service sent, as receive --log writes them" },
    base: {
      value: "url",
      description: "the address of the service, such as https://api.example.com/v1 (default: where most calls match)",
    },
    json: { description: "print the result as one JSON object" },
  },
  async run({ flags, positionals }) {
    if (positionals.length === 0 && flags.webhooks === undefined)
      usageError(
        "The recording is missing: merchant-sandbox compare recording.har. docs/real-service.md says how to make one.",
      );
    const atLeast = wholeNumber(1, 999_999)(flags["at-least"] ?? "3", "--at-least");
    const recording = await readRecording(positionals, flags.webhooks);
    const service = flags.service === undefined ? undefined : await readService(flags.service);
    const sandbox = comparedSandbox(service?.facts);
    const found = compareRecording(sandbox, recording, flags.base === undefined ? undefined : readBase(flags.base));
    const written = serviceFileOf(sandbox.facts, found.evidence, { atLeast, refusedIn, given: service?.given?.facts });
    const adoption = flags.write === undefined ? written : await checkedFile(written, found, recording, service?.given);
    if (flags.write !== undefined) await writeService(flags.write, adoption, service?.given);
    if (flags.json === undefined) printText(comparisonText(found, { ...adoption, file: flags.write }));
    else {
      const { evidence: _, ...result } = found;
      print(JSON.stringify(result));
    }
    if (flags.write !== undefined)
      (flags.json === undefined ? print : note)(shownTotals(found, written, adoption, flags.write));
    if (matchedNothing(found)) return exitCodes.inconclusive;
    return totalsOf(found).contradicted + found.shapes.length > 0 ? exitCodes.verdict : exitCodes.ok;
  },
});

const refusedIn = (facts: ServiceFile["facts"]) =>
  createFileCheck({ facts: comparedSandbox().facts, operations: comparedSandbox().operations.map(({ id }) => id) })(
    facts,
  );

/** Drops each entry with which a sandbox comes out farther from the recording. It becomes a question. */
async function checkedFile(
  { facts, questions = [] }: ServiceFile,
  { evidence: { traffic } }: Comparison,
  { deliveries }: Recording,
  given: ServiceFile | undefined,
): Promise<ServiceFile> {
  if (Object.keys(facts).length === 0) return { facts, questions };
  const play = (some: ServiceFile["facts"]) => playRecording(traffic, deliveries, some);
  const checked = await keepNearer(facts, { given: given?.facts, refusedIn, play });
  const dropped = checked.dropped.map(({ id, why }) => {
    const { value, seen = 1 } = facts[id] as { value: string; seen?: number };
    return { fact: id, seen: [{ value, count: seen }], why };
  });
  return { facts: checked.facts, questions: [...questions, ...dropped] };
}

/** Writes the entries together with those of the service file that was compared. */
const writeService = (file: string, { facts, questions }: ServiceFile, given: ServiceFile | undefined) =>
  writeOutput(file, `${serviceFileText({ $schema: SCHEMA, facts: { ...given?.facts, ...facts }, questions })}\n`);

function shownTotals(
  found: Comparison,
  written: ServiceFile,
  { facts, questions = [] }: ServiceFile,
  file: string,
): string {
  const [before, after] = [Object.keys(written.facts).length, Object.keys(facts).length];
  const counts = `${totalsOf(found).confirmed} confirmed, ${after} adopted, ${before - after} dropped, ${plural(questions.length, "question")} left to you`;
  return `Wrote ${plural(after, "fact")} to ${file}: merchant-sandbox start --service ${file}. Of the facts: ${counts}.`;
}

const SCHEMA = "./node_modules/merchant-sandbox/service.schema.json";

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
    if (!found.isFile() && !found.isDirectory()) usageError(`Cannot read ${file}: it is no plain file.`);
    const { size } = found;
    if (size > LARGEST_FILE)
      usageError(
        `${file} has ${size} bytes; compare reads at most ${LARGEST_FILE}. Record less, or leave out the bodies of files.`,
      );
    return recordingText(await readFile(file), basename(file));
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error)
      return usageError(`Cannot read ${file} (${error.code}).`);
    throw error;
  }
}
