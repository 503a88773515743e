// Reads the given sandbox options: flags take precedence over environment variables, and variables over
// merchant-sandbox.json.

import { lstatSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { SandboxError, usageError } from "../kernel/errors.ts";
import { isObject } from "../kernel/json-object.ts";
import {
  CONFIG_FILE,
  configSchema,
  flagOf,
  type GivenOptions,
  NOT_IN_FILE,
  type OptionName,
  opensNetwork,
  optionNames,
  PATHS,
  parseOption,
  variableOf,
} from "../sandbox/options.ts";
import { fieldErrors } from "../schema/validator.ts";
import { realPath } from "../store/data-folder.ts";
import { errorAt, type JsonFile, readJsonFile, readText } from "../store/world/json-file.ts";
import type { GivenFlags } from "./arguments.ts";

export type Source = "flag" | "variable" | "file";

export interface Settings {
  options: GivenOptions;
  sources: Partial<Record<OptionName, Source>>;
}

/** `flags` contains the options on the command line. */
export async function readSettings(
  flags: GivenFlags,
  names: readonly OptionName[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Settings> {
  if (flags["--memory"] !== undefined && flags["--db"] !== undefined)
    usageError("Choose --memory or --db: --memory keeps no file.");
  const file = await readConfigFile();
  const found = names.flatMap((name) => {
    const [source, value] = sourceOf(name, flags, environment, file);
    return source === undefined ? [] : [{ name, source, value }];
  });
  return {
    options: Object.fromEntries(found.map(({ name, value }) => [name, value])),
    sources: Object.fromEntries(found.map(({ name, source }) => [name, source])),
  };
}

/** The first option flag on the command line, if any. A command uses it to reject options that it would ignore. */
export function givenFlag(sources: Settings["sources"]): string | undefined {
  const name = optionNames.find((option) => sources[option] === "flag");
  return name && flagOf(name);
}

function sourceOf(
  name: OptionName,
  flags: GivenFlags,
  environment: NodeJS.ProcessEnv,
  file: GivenOptions,
): [Source, unknown] | [] {
  const flag = flags[flagOf(name)];
  if (flag !== undefined) return ["flag", parseOption(name, flag, flagOf(name))];
  const variable = environment[variableOf(name)];
  if (variable !== undefined) return ["variable", parseOption(name, variable, variableOf(name))];
  return file[name] === undefined ? [] : ["file", file[name]];
}

/** A note that lists the options that a file set, because the user did not type them. Undefined if it set none. */
export function noteOfFile(sources: Settings["sources"]): string | undefined {
  const names = optionNames.filter((name) => sources[name] === "file");
  return names.length === 0 ? undefined : `Options of ${join(process.cwd(), CONFIG_FILE)}: ${names.join(", ")}.`;
}

/** The file's endpoints and its folder, which the user confirms once. Undefined if the file sets no endpoints. */
export function endpointsToConfirm({ options, sources }: Settings): string | undefined {
  return sources.endpoints === "file"
    ? JSON.stringify([realPath(process.cwd()), CONFIG_FILE, options.endpoints])
    : undefined;
}

/** The options in this folder's merchant-sandbox.json; empty without the file. */
async function readConfigFile(): Promise<GivenOptions> {
  if (lstatSync(join(process.cwd(), CONFIG_FILE), { throwIfNoEntry: false }) === undefined) return {};
  const source = await readJsonFile(CONFIG_FILE, "usage");
  const { value } = source;
  if (!isObject(value)) usageError(`${CONFIG_FILE} must be a JSON object, such as {"port": 4800}.`);
  const known = Object.keys(configSchema.properties);
  for (const [name, one] of Object.entries(value)) {
    const refused = reservedOption(name as OptionName, one);
    if (refused !== undefined) throw await mistake(source, `/${name}`, refused);
    if (!known.includes(name))
      throw await mistake(source, `/${name}`, `There is no option ${name}.${didYouMean(name, known)}`);
  }
  const [error] = fieldErrors(configSchema, value);
  if (error) throw await mistake(source, error.pointer, error.message);
  const { $schema: _, ...given } = value as Record<string, unknown>;
  const entries = Object.entries(given).map(async ([name, one]) => [
    name,
    await readValue(source, name as OptionName, one),
  ]);
  return Object.fromEntries(await Promise.all(entries)) as GivenOptions;
}

/**
 * Why merchant-sandbox.json may not set an option; undefined if it may. The file can come with a folder that another
 * person made, so it must not decide about this machine.
 */
function reservedOption(name: OptionName, value: unknown): string | undefined {
  if (!optionNames.includes(name)) return undefined;
  const remedy = `Use ${flagOf(name)} or ${variableOf(name)} instead.`;
  if (NOT_IN_FILE.includes(name) || (name === "host" && opensNetwork({ host: String(value) })))
    return (
      `This file may not ${name === "host" ? "open the sandbox to the network" : `set ${name}`}, because it comes ` +
      `with the folder. ${remedy}`
    );
  const outside = PATHS.includes(name) && [value].flat().find((path) => typeof path === "string" && isOutside(path));
  return outside
    ? `This file may only name files in its own folder; received ${JSON.stringify(outside)}. ${remedy}`
    : undefined;
}

/** Whether a path leads out of this folder, directly or through a symbolic link. */
function isOutside(path: string): boolean {
  const way = relative(realPath(process.cwd()), realPath(resolve(path)));
  return way.startsWith("..") || resolve(way) === way;
}

async function readValue(source: JsonFile, name: OptionName, value: unknown): Promise<unknown> {
  // The sandbox reads this file again as a file of rules when it starts, so that an error in a rule names its line.
  if (name === "faults" && Array.isArray(value)) return CONFIG_FILE;
  const texts = [value].flat();
  if (texts.some((text) => typeof text === "object")) return value;
  try {
    const parsed = parseOption(name, texts.map(String), name);
    if (name === "faults") readText(String(value), "usage");
    return parsed;
  } catch (error) {
    throw error instanceof SandboxError ? await mistake(source, `/${name}`, error.message) : error;
  }
}

/** An error in the file is a usage error, unlike an error in fixtures. */
const mistake = (source: JsonFile, pointer: string, message: string) => errorAt(source, pointer, message, "usage");

/** Adds the line in the file to an error that is found only when the sandbox starts, such as an unknown merchant. */
export async function withPlaceInFile(error: unknown, sources: Settings["sources"]): Promise<unknown> {
  const pointer = error instanceof SandboxError ? error.details.pointer : undefined;
  if (typeof pointer !== "string" || sources[pointer.split("/")[1] as OptionName] !== "file") return error;
  return mistake(await readJsonFile(CONFIG_FILE, "usage"), pointer, (error as Error).message);
}
