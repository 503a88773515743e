// `--watch`: opens the sandbox again when a file that its options name is saved. A mistake in a file is reported, and
// the earlier options stay in force.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterRealTime } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { openSandbox } from "../../sandbox/create.ts";
import { CONFIG_FILE, completeOptions, type Options } from "../../sandbox/options.ts";
import { heldNote, type JsonLine, type Output, type WatchedSandbox } from "../output/output.ts";
import { sandboxAt } from "../remote/running-sandbox.ts";
import { endpointsToConfirm, type Settings, withPlaceInFile } from "../settings.ts";
import { openInWorker, type SandboxForView } from "./open-for-view.ts";

/** Milliseconds between checks of the files. File system notifications do not reach into containers. */
const POLL_INTERVAL = 300;

/** `read` reads the settings from the files. `awaited` is the URL of the app beside the sandbox. */
export async function openReloading(read: () => Promise<Settings>, awaited?: string): Promise<SandboxForView> {
  let settings = await read();
  const given = (one: Settings, same: Partial<Options> = {}) => ({
    options: { ...completeOptions(one.options), ...same },
    toConfirm: endpointsToConfirm(one),
    awaited,
  });
  let current = await openInWorker(given(settings));
  const { url, token } = current.watched.target;
  const same = { port: Number(new URL(url).port), ...(token !== undefined && { controlToken: token }) };
  const report = createReporter();
  const { port: firstPort } = completeOptions(settings.options);
  const reload = async (names: string[]) => {
    let outcome = "The sandbox stays as it was.";
    try {
      const next = await read();
      await check(given(next).options).catch(async (error) => {
        throw await withPlaceInFile(error, next.sources);
      });
      await current.close();
      // Opening can still fail, for example on a database in use.
      current = await openInWorker(given(next, same)).catch(async (error) => {
        current = await openInWorker(given(settings, same));
        const lost = completeOptions(settings.options).memory ? ", and its data in memory started again" : "";
        outcome = `The sandbox was opened again with the earlier options${lost}.`;
        throw error;
      });
      const { control } = sandboxAt({ url, controlToken: token });
      if (changedFixtures(names, next)) await control.reset();
      settings = next;
      const held = await control.overview();
      const { port } = completeOptions(next.options);
      const restart = port === firstPort ? "" : `Restart to listen on port ${port} instead of ${same.port}.`;
      const text = [`Loaded again: ${names.join(", ")}.`, restart, heldNote(held)].filter(Boolean).join(" ");
      const needRestart = restart === "" ? [] : ["port"];
      report({ event: "reloaded", files: names, needRestart, heldEndpoints: held.heldEndpoints }, text);
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      const text = `${error.message} ${outcome}`;
      report({ event: "not_reloaded", files: names, error: text }, text);
    }
  };
  const stop = watch(() => filesOf(completeOptions(settings.options)), reload);
  return {
    watched: report.beside(current.watched),
    async close() {
      await stop();
      await current.close();
    },
  };
}

/** Starts and stops another sandbox with these options, to find mistakes before the current sandbox is stopped. */
async function check(options: Options): Promise<void> {
  const trial = await openSandbox({ ...options, memory: true, port: 0, host: undefined });
  await trial.close();
}

const changedFixtures = (names: readonly string[], { options: { fixtures } }: Settings) =>
  typeof fixtures === "string" && names.some((name) => name === fixtures || name.startsWith(join(fixtures, "/")));

/** The files that these options name, whether they exist or not. */
function filesOf({ fixtures, faults, scenario }: Options): string[] {
  const inFolder = (path: string) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    return isFolder ? readdirSync(path).map((name) => join(path, name)) : [path];
  };
  const scenarios = scenario.filter((name) => name.endsWith(".json"));
  return [CONFIG_FILE, ...[faults ?? []].flat(), ...scenarios, ...(fixtures === undefined ? [] : inFolder(fixtures))];
}

/** Calls `changed` with the names of files that were saved, created or removed. Returns a function that ends this. */
function watch(files: () => readonly string[], changed: (names: string[]) => Promise<void>): () => Promise<void> {
  const stateOf = (file: string) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found === undefined ? "none" : `${found.mtimeMs} ${found.size}`;
  };
  const look = () => new Map([...new Set(files())].map((file) => [file, stateOf(file)]));
  let known = look();
  let working = Promise.resolve();
  let cancel = () => {};
  const poll = () => {
    cancel = afterRealTime(POLL_INTERVAL, () => {
      const now = look();
      const names = [...new Set([...known.keys(), ...now.keys()])].filter((file) => known.get(file) !== now.get(file));
      known = now;
      working = names.length === 0 ? working : changed(names);
      void working.then(poll);
    });
  };
  poll();
  return async () => {
    cancel();
    await working;
    cancel();
  };
}

/** Reports on the dashboard if it is open, otherwise among the printed lines of the sandbox. */
function createReporter() {
  let show: ((text: string) => void) | undefined;
  let output: Output | undefined;
  const report = (object: JsonLine, text: string) => {
    if (show) show(text);
    else output?.notice(object, text);
  };
  return Object.assign(report, {
    beside: (watched: WatchedSandbox): WatchedSandbox => ({
      ...watched,
      whileDashboard(given) {
        show = given;
        const end = watched.whileDashboard?.(given);
        return () => {
          show = undefined;
          end?.();
        };
      },
      follow(given, from) {
        output = given;
        return watched.follow(given, from);
      },
    }),
  });
}
