// Reads fixtures, JSON files with a merchant and its records, and reports errors with file and line.

import { statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Resource } from "../../contracts/resource.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { isObject } from "../../kernel/json-object.ts";
import { checkFixture, checkFixturesTogether, type FixtureProblem } from "./check-world.ts";
import { errorAt, filesIn, type JsonFile, readJsonFile, readText } from "./json-file.ts";

export interface Fixture {
  /** The file name without its extension. */
  readonly name: string;
  /** One sentence about this merchant. */
  readonly description: string;
  /** The day for which the fixture's dates were written. Without it, the dates do not move. */
  readonly asOf?: string | undefined;
  /**
   * `off`: time changes none of its records. As an object, it has `off` for each kind that time does not change
   * (default: time changes all).
   */
  readonly life?: "off" | Readonly<Record<string, "off">> | undefined;
  readonly merchant: FixtureMerchant;
  /** Records by kind, oldest first. Missing fields have their defaults. */
  readonly records: Readonly<Record<string, readonly FixtureRecord[]>>;
}

export interface FixtureMerchant extends FixtureRecord {
  readonly id: string;
  readonly email: string;
  readonly apiKey: string;
  readonly password?: string;
  readonly created?: number;
}

export type FixtureRecord = Readonly<Record<string, unknown>>;

/** A file that holds a JSON object. */
interface FixtureFile extends JsonFile {
  value: Record<string, unknown>;
}

const ENDING = ".json";
const REMEDY = "A fixture is a file such as shop.json, with a merchant and its records.";

/**
 * Every fixture of a folder, the oldest merchant first. Does not check the files, because a test checks the package's
 * fixtures.
 */
export const readFixtures = (folder: string): Fixture[] =>
  fixturesOf(pathsIn(folder).map((file) => ({ file, value: JSON.parse(readText(file)) as Record<string, unknown> })));

/** Like `readFixtures`, for a user's files. An error names the file, the line and the problem. */
export async function readCheckedFixtures(folder: string, resources: readonly Resource[]): Promise<Fixture[]> {
  const sources: FixtureFile[] = [];
  for (const path of pathsIn(folder)) sources.push(await read(path));
  await check(sources, resources);
  return fixturesOf(sources);
}

/** The files of a folder, or the file itself. A path that ends in .json names a file, even if it does not exist. */
const pathsIn = (path: string) =>
  path.endsWith(ENDING) && !statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? [path]
    : filesIn(path, /\.json$/, ".json file", REMEDY).map((name) => join(path, name));

const fixturesOf = (sources: readonly Pick<FixtureFile, "file" | "value">[]) =>
  sources
    .map(fixtureOf)
    .sort((one, other) => (one.merchant.created ?? Infinity) - (other.merchant.created ?? Infinity) || 0);

async function read(path: string): Promise<FixtureFile> {
  const { file, text, value } = await readJsonFile(path);
  if (!isObject(value))
    throw new SandboxError(`${file}:1: a fixture is a JSON object with a merchant and its records.`, "badFixture");
  return { file, text, value };
}

async function check(sources: readonly FixtureFile[], resources: readonly Resource[]): Promise<void> {
  for (const source of sources) {
    await refuse(source, checkFixture(source.value, resources));
  }
  const shared = checkFixturesTogether(
    sources.map(({ file, value }) => ({ file, merchant: value.merchant as FixtureRecord })),
  );
  for (const { file, ...problem } of shared)
    await refuse(sources.find((source) => source.file === file) as FixtureFile, [problem]);
}

async function refuse(source: FixtureFile, [first, ...others]: readonly FixtureProblem[]): Promise<void> {
  if (!first) return;
  const more =
    others.length === 0 ? "" : ` The file has ${others.length} more ${others.length === 1 ? "error" : "errors"}.`;
  throw await errorAt(source, first.pointer, `${first.message}${more}`);
}

function fixtureOf({ file, value }: Pick<FixtureFile, "file" | "value">): Fixture {
  const { description = "", asOf, life, merchant, records = {} } = value as Partial<Fixture>;
  return {
    name: basename(file, ENDING),
    description,
    asOf,
    life,
    merchant: merchant as FixtureMerchant,
    records,
  };
}
