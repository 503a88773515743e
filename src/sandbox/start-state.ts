// The state that the options describe: a snapshot, fault rules, scenarios and endpoints. A start sets it up, and a
// reset returns to it.

import { resolve } from "node:path";
import type { RuleState } from "../contracts/fault.ts";
import { NewEndpoint } from "../contracts/webhook.ts";
import { register } from "../control/endpoints.ts";
import type { ControlContext } from "../control/index.ts";
import type { Restored } from "../control/merchants.ts";
import { addRulesFromFile } from "../faults/index.ts";
import { ApiError, SandboxError } from "../kernel/errors.ts";
import type { LessonService } from "../lessons/index.ts";
import { fieldErrors } from "../schema/validator.ts";
import type { Snapshots } from "../store/world/snapshots.ts";
import type { World } from "../store/world/world.ts";
import type { Engine } from "./engine.ts";
import { CONFIG_FILE } from "./options.ts";

interface Parts extends Omit<ControlContext, "restore" | "world" | "snapshots" | "lessons"> {
  world: World;
  snapshots: Snapshots;
  lessons: LessonService;
}

export function createStartState({ options, scenarios }: Pick<Engine, "options" | "scenarios">, parts: Parts) {
  const { clock, world, snapshots, lessons, faults, tenants } = parts;
  /** The rules as their file contained them at the start. A reset arms these, even if the file has changed since. */
  const rules: { given: unknown; owner: string | undefined }[] = [];
  const scenarioNames: string[] = [];
  const endpoints: { given: NewEndpoint; merchant: string }[] = [];
  return {
    async setUp(): Promise<void> {
      // In memory, the database already is a copy of the fixtures.
      if (!options.memory) world.fill();
      if (options.snapshot !== undefined) {
        snapshots.restoreFile(resolve(options.snapshot));
        lessons.reset();
      }
      const { faults: file } = options;
      if (file !== undefined) {
        const add = (given: unknown) => {
          // A restart with the same file and database arms the same rules again.
          rules.push({ given, owner: ownerOf(faults.add(given, { resumes: true }), tenants) });
        };
        // A wrong rule among the options is misuse of the command, like any other wrong option.
        await addRulesFromFile(file, add, file === CONFIG_FILE ? "usage" : "badFixture");
      }
      for (const nameOrFile of options.scenario) scenarioNames.push((await scenarios.startGiven(nameOrFile)).name);
      for (const [index, given] of options.endpoints.entries())
        endpoints.push({ given, merchant: (await registerGiven(parts, given, `/endpoints/${index}`)).merchant });
    },
    /** Resets one merchant, or everything and the clock. */
    async restore(merchant?: string): Promise<Restored> {
      const isEverything = merchant === undefined;
      // Fixtures are seeded relative to the clock.
      if (isEverything) clock.set(options.clock === undefined ? "real" : "frozen", options.clock);
      await world.reset(merchant);
      if (isEverything && options.snapshot !== undefined) {
        snapshots.restoreFile(resolve(options.snapshot));
        parts.dataReplaced();
      }
      const armed = rules
        .filter(({ owner }) => isEverything || owner === merchant)
        .map(({ given }) => faults.add(given).id);
      const started = isEverything ? scenarioNames : [];
      for (const name of started) await scenarios.start(name);
      const registered: string[] = [];
      for (const { given, merchant: owner } of endpoints)
        if (isEverything || owner === merchant) registered.push((await register(parts, given)).id);
      return { faults: armed, scenarios: started, endpoints: registered };
    },
  };
}

/** The only merchant that a rule can affect. */
const ownerOf = ({ match }: RuleState, tenants: Parts["tenants"]) =>
  (match.merchant as string | undefined) ??
  (match.key === undefined ? undefined : tenants.identify(match.key as string)?.merchant);

/**
 * Registers an endpoint from the options. An error has a pointer to the field, which the command looks up in
 * merchant-sandbox.json.
 */
async function registerGiven(parts: Parts, endpoint: NewEndpoint, pointer: string) {
  const [error] = fieldErrors(NewEndpoint, endpoint);
  if (error)
    throw new SandboxError(`The endpoint ${JSON.stringify(endpoint)} cannot be registered: ${error.message}`, "usage");
  return register(parts, endpoint).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    const field = { resource_not_found: "merchant", validation_failed: "events" }[code as string] ?? "url";
    const details = { pointer: `${pointer}/${field}` };
    throw new SandboxError(`The endpoint ${endpoint.url} cannot be registered: ${message}`, "usage", { code, details });
  });
}
