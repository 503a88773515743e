// The state that the options describe: a snapshot, fault rules, scenarios and endpoints. The sandbox sets it up
// when it starts, and a reset returns to it.

import { resolve } from "node:path";
import type { RuleState } from "../contracts/fault.ts";
import { NewEndpoint } from "../contracts/webhook.ts";
import { register } from "../control/endpoints.ts";
import type { ControlContext } from "../control/index.ts";
import type { Restored } from "../control/merchants.ts";
import { addRulesFromFile } from "../faults/index.ts";
import { ApiError, SandboxError } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { fieldErrors } from "../schema/validator.ts";
import { confirm, isConfirmed } from "../store/user-state.ts";
import type { EndpointKey } from "../store/webhooks/outbox.ts";
import type { Snapshots } from "../store/world/snapshots.ts";
import type { World } from "../store/world/world.ts";
import type { Dispatcher } from "../webhooks/dispatcher.ts";
import type { Engine } from "./engine.ts";
import { CONFIG_FILE } from "./options.ts";

interface Parts extends Omit<ControlContext, "restore" | "releaseHeld" | "world" | "snapshots"> {
  dispatcher: Dispatcher;
  world: World;
  snapshots: Snapshots;
}

export function createStartState(
  { options, scenarios, toConfirm }: Pick<Engine, "options" | "scenarios" | "toConfirm">,
  parts: Parts,
) {
  const { clock, world, snapshots, faults, tenants, dispatcher } = parts;
  if (options.trust && toConfirm !== undefined) confirm(toConfirm);
  const hold = openHold(parts, toConfirm !== undefined && !options.trust && !isConfirmed(toConfirm));
  /** The rules as their file contained them at the start. A reset arms these, even if the file has changed since. */
  const rules: { given: unknown; owner: string | undefined }[] = [];
  const scenarioNames: string[] = [];
  const endpoints: { given: NewEndpoint; merchant: string }[] = [];
  return {
    async setUp(): Promise<void> {
      // In memory, the database already is a copy of the fixtures.
      if (!options.memory) await world.fill();
      if (options.snapshot !== undefined) {
        await snapshots.restoreFile(resolve(options.snapshot), { keepsLog: true });
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
      const { webhookSecret } = options;
      for (const [index, one] of options.endpoints.entries()) {
        const given = webhookSecret === undefined ? one : { secret: webhookSecret, ...one };
        const { merchant, id } = await registerGiven(parts, given, `/endpoints/${index}`);
        await hold.endpoint({ merchant, endpoint: id });
        endpoints.push({ given, merchant });
      }
    },
    async releaseHeld(): Promise<number> {
      if (toConfirm !== undefined) confirm(toConfirm);
      hold.end();
      return dispatcher.release();
    },
    /** Resets one merchant, or everything and the clock. */
    async restore(merchant?: string): Promise<Restored> {
      const isEverything = merchant === undefined;
      // Fixtures are seeded relative to the clock.
      if (isEverything) clock.set(options.clock === undefined ? "real" : "frozen", options.clock);
      if (isEverything && options.snapshot !== undefined)
        await snapshots.restoreFile(resolve(options.snapshot), { keepsLog: false });
      else await world.reset(merchant);
      const armed = rules
        .filter(({ owner }) => isEverything || owner === merchant)
        .map(({ given }) => faults.add(given).id);
      const started = isEverything ? scenarioNames : [];
      for (const name of started) await scenarios.start(name);
      const registered: string[] = [];
      for (const { given, merchant: owner } of endpoints.filter((one) => isEverything || one.merchant === merchant)) {
        const { id } = await register(parts, given);
        await hold.endpoint({ merchant: owner, endpoint: id });
        registered.push(id);
      }
      return { faults: armed, scenarios: started, endpoints: registered };
    },
  };
}

/** Holds the endpoints of a folder's merchant-sandbox.json until the user confirms them. */
function openHold({ database, heldEndpoints }: Pick<Parts, "database" | "heldEndpoints">, isUnconfirmed: boolean) {
  let isOn = isUnconfirmed;
  return {
    async endpoint(one: EndpointKey) {
      if (!isOn) return;
      heldEndpoints.hold(one);
      // The next start may not read this merchant-sandbox.json, but finds the endpoint in the database.
      await database.groupCommit(() => database.setTrusted(false));
    },
    end() {
      isOn = false;
    },
  };
}

/** The only merchant that a rule can affect; undefined if it can affect several. */
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
    throw new SandboxError(
      `The endpoint ${mask(JSON.stringify(endpoint), 400)} cannot be registered: ${error.message}`,
      "usage",
    );
  return register(parts, endpoint).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    const field = { resource_not_found: "merchant", validation_failed: "events" }[code as string] ?? "url";
    const details = { pointer: `${pointer}/${field}` };
    throw new SandboxError(`The endpoint ${endpoint.url} cannot be registered: ${message}`, "usage", { code, details });
  });
}
