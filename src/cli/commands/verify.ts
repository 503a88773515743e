// `verify`: checks expectations on the run of a sandbox, as a gate for scripts.

import type { SandboxVerifyReply } from "../../../generated/control-api.ts";
import { type CountedExpectation, withEffects } from "../../client/effects.ts";
import { explainResult } from "../../client/verification-text.ts";
import { type Expectation, Expectations } from "../../contracts/expectations.ts";
import { tryParseJson } from "../../kernel/attempt.ts";
import { errorSummary, SandboxError, usageError, verdictExits } from "../../kernel/errors.ts";
import { isObject } from "../../kernel/json-object.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { Type } from "../../schema/shapes.ts";
import { fieldErrors } from "../../schema/validator.ts";
import { errorAt, type JsonFile, readJsonFile } from "../../store/world/json-file.ts";
import { countWith } from "../process/count-command.ts";
import { sandboxCommand } from "../sandbox-command.ts";

interface Wanted {
  what: string;
  count?: { exactly?: number; atLeast?: number; atMost?: number };
}

/** Builds the expectation for each kind of argument, such as `requests:payments.list=2`. */
const KINDS: Readonly<Record<string, (wanted: Wanted) => Expectation>> = {
  requests: ({ what, ...count }) => ({ requests: { match: { operation: what }, ...count } }),
  never: ({ what }) => ({ never: { match: { operation: what } } }),
  deliveries: ({ what, ...count }) => ({ deliveries: { match: { event: what }, ...count, final: "succeeded" } }),
  records: ({ what, ...count }) => ({ records: { kind: what, ...count } }),
  effects: ({ what, count }) => ({ effects: { match: { event: what }, made: count?.exactly ?? UNCOUNTED } }),
  scenario: ({ what }) => ({ scenario: { name: what } }),
  fault: ({ what, count }) => ({ fault: { id: what, ...(count && { fired: count }) } }),
  verdicts: ({ what }) => ({ verdicts: { rules: [what], fail: { exactly: 0 } } }),
};

const EXAMPLE = `'${JSON.stringify({
  requests: {
    match: { operation: "pricing_rules.create", body: { "/name": "Weekend" } },
    count: { exactly: 1 },
  },
})}'`;

/** A placeholder for the count of --effects. */
const UNCOUNTED = -1;

const FORM = /^(\w+):([^=]+)(?:=(\d+)?(\.\.)?(\d+)?)?$/;

/** Reads `deliveries:payment.succeeded=2`, `…=1..` (at least one), `…=..3` (at most three), or JSON. */
function readExpectation(text: string): Expectation {
  if (text.startsWith("{")) return (tryParseJson(text) as Expectation | undefined) ?? refuse(text);
  const [, kind = "", what = "", least, range, most] = FORM.exec(text) ?? [];
  const write = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  return write ? write({ what, ...countOf(least, range, most) }) : refuse(text);
}

function countOf(least?: string, range?: string, most?: string): Pick<Wanted, "count"> {
  if (range === undefined) return least === undefined ? {} : { count: { exactly: Number(least) } };
  const atLeast = least === undefined ? {} : { atLeast: Number(least) };
  return { count: { ...atLeast, ...(most !== undefined && { atMost: Number(most) }) } };
}

/**
 * If no number was given, uses the command of --effects as the count. The command runs again while the expectations do
 * not hold.
 */
function counted(expectation: Expectation, command: string | undefined): CountedExpectation {
  // The sandbox checks the names of operations and events.
  const { effects, ...rest } = expectation as CountedExpectation;
  if (effects?.made !== UNCOUNTED) return expectation as CountedExpectation;
  if (command === undefined)
    usageError("effects:<event> needs a count: add --effects <command>, or write effects:payment.succeeded=2.");
  return { ...rest, effects: { ...effects, made: () => countWith(command) } };
}

const INPUT_FILE = Type.Object(Expectations.properties, { additionalProperties: false });

type ExpectationsFile = JsonFile & { value: Expectations };

async function readExpectations(file: string): Promise<ExpectationsFile> {
  const source = await readJsonFile(file, "usage");
  const { value } = source;
  if (!isObject(value))
    usageError(`${file} must be a JSON object, such as {"all": [{"records": {"kind": "payroll"}}]}.`);
  const errors = fieldErrors(INPUT_FILE, value);
  if (errors[0]) throw await errorAt(source, errors[0].pointer, errorSummary(errors), "usage");
  return source as ExpectationsFile;
}

/** An error of the sandbox names the index of an expectation: `all.0.requests.match.operation: there is no …`. */
const PLACE = /^(?:Unknown field )?all\.(\d+)\.([\w.]+):? (.*)$/s;

/**
 * Returns an error about an expectation with the line of the file, or with the argument, that contains the expectation.
 */
async function whereWritten(error: unknown, source: ExpectationsFile | undefined, positionals: readonly string[]) {
  const [, index, field = "", problem = ""] = (error instanceof SandboxError && PLACE.exec(error.message)) || [];
  if (index === undefined) return error;
  const inFile = source?.value.all.length ?? 0;
  if (source && Number(index) < inFile)
    return errorAt(source, `/all/${index}/${field.replaceAll(".", "/")}`, problem, "usage");
  const text = positionals[Number(index) - inFile] ?? "";
  // For an argument in JSON, the message keeps the path of the wrong field; other arguments have no fields.
  const said = text.startsWith("{") ? (error as SandboxError).message : problem;
  return new SandboxError(`${text}: ${said.replaceAll(/\ball\.\d+\./g, "")}`, "usage");
}

const refuse = (text: string): never =>
  usageError(
    `An expectation is written as deliveries:payment.succeeded=1, or as JSON; received "${text}". ` +
      `The kinds are ${Object.keys(KINDS).join(", ")}.`,
  );

export const verify = sandboxCommand<SandboxVerifyReply>({
  summary: "check expectations on the run, and wait for them (exit 3: one does not hold, 4: inconclusive)",
  usage: "verify [expectation ...]",
  example: "verify requests:payments.list deliveries:payment.succeeded=1 verdicts:* --within 5s",
  flags: {
    file: {
      value: "file",
      description: "check the expectations of this JSON file, which has the format of POST /_sandbox/verify",
    },
    within: { value: "duration", description: "wait at most this long, in real time", defaultText: "0s" },
    merchant: { value: "merchant", description: "look only at this merchant, such as lodge" },
    effects: {
      value: "command",
      description: "run this for effects:<event>; it must print how often the receiver has acted on such events",
    },
  },
  sections: () => [
    {
      title: "Expectations",
      rows: [
        ["requests:<operation>", "such as requests:payroll.create=1; =1.. is at least one, =..3 at most three"],
        ["never:<operation>", "no such request"],
        ["deliveries:<event>", "each accepted by its receiver, such as deliveries:payment.*"],
        ["effects:<event>", "the receiver acted once on each, by the count of --effects or =<number>"],
        ["records:<kind>", "such as records:payroll=1"],
        ["scenario:<name>", "the scenario passes"],
        ["fault:<id>", "the fault rule fired"],
        ["verdicts:<rule>", "no verdict of this rule failed; verdicts:* is every rule"],
        ["'{…}'", "an expectation as JSON, with all its fields"],
      ],
    },
    {
      title: "An expectation as JSON",
      rows: [
        [EXAMPLE, "one call of this operation with this name in its body"],
        ["match", "operation, merchant, status, path, and body by JSON Pointer"],
        ["count", "exactly, or atLeast and atMost"],
      ],
    },
  ],
  async call(sandbox, { flags, positionals }) {
    const source = flags.file === undefined ? undefined : await readExpectations(flags.file);
    const { all = [], ...given }: Partial<Expectations> = source?.value ?? {};
    const expectations = [...all, ...positionals.map(readExpectation)].map((one) => counted(one, flags.effects));
    if (expectations.length === 0) usageError(`Expectations are missing: ${PROGRAM} verify requests:payments.list.`);
    const { within = given.within, merchant = given.merchant } = flags;
    const wanted = {
      all: expectations,
      ...(within !== undefined && { within }),
      ...(merchant !== undefined && { merchant: (await sandbox.merchant(merchant)).id }),
    };
    return withEffects(sandbox.control)
      .verify(wanted)
      .catch(async (error) => {
        throw await whereWritten(error, source, positionals);
      });
  },
  lines: ({ results }) =>
    results.flatMap((result) => `${result.verdict} ${result.expectation}: ${explainResult(result)}`.split("\n")),
  exitCode: ({ verdict }) => verdictExits[verdict],
});
