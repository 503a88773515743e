// `dev`: a sandbox, its dashboard and the user's app in one command.

import { constants } from "node:os";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { exitCodes, usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { completeOptions } from "../../sandbox/options.ts";
import type { Flags } from "../arguments.ts";
import { type Arguments, command } from "../command.ts";
import { followLiveStream } from "../output/follow.ts";
import type { Output, WatchedSandbox } from "../output/output.ts";
import { currentUi, show, uiFlags, watchFlag } from "../output/show-sandbox.ts";
import type { App } from "../process/app.ts";
import { type AwaitedEndpoint, createAppView } from "../process/app-view.ts";
import { openForView, type SandboxForView } from "../process/open-for-view.ts";
import { openReloading } from "../process/reload.ts";
import { listenForStop, type StopSignal } from "../process/signals.ts";
import { findSandbox } from "../remote/find-sandbox.ts";
import { type RunningSandbox, sandboxAt, variablesOf } from "../remote/running-sandbox.ts";
import { endpointForSecret, forwardFlag, fullUrl, withForwardTo } from "../remote/webhook-target.ts";
import { endpointsToConfirm, givenFlag, type Settings } from "../settings.ts";

const DEFAULTS = { isolation: "on" } as const;

export const dev = command({
  summary: "run your app beside a sandbox and its dashboard: dev --forward-to 3000/hooks -- npm run dev",
  usage: "dev [--forward-to <url>] [--<option> ...] -- <command>",
  example: "dev --forward-to 3000/hooks -- npm run dev",
  sandboxOptions: true,
  defaults: DEFAULTS,
  rest: true,
  flags: {
    ...forwardFlag,
    env: {
      value: "NAME={url}",
      multiple: true,
      description:
        "give the app this variable too; {url}, {key}, {secret} and {sandbox} stand for the base URL with /v1, the " +
        "API key, the webhook secret and the URL of the sandbox",
    },
    merchant: {
      value: "merchant",
      description: "give the app the API key of this merchant",
      defaultText: "the first one",
    },
    attach: { description: "use the sandbox that already runs, in this folder or at --url, instead of starting one" },
    url: { value: "url", description: "with --attach, use the sandbox at this URL" },
    ...watchFlag,
    ...uiFlags,
  },
  async run({ rest, ...given }) {
    if (!rest[0]) usageError(`The command is missing: ${PROGRAM} dev --forward-to 3000/hooks -- npm run dev.`);
    const extra = readVariables(given.flags.env);
    const isAttached = given.flags.attach !== undefined;
    if (!isAttached && given.flags.url !== undefined)
      usageError("--url goes with --attach: dev starts its own sandbox.");
    const opening = isAttached ? attachTo(given) : openOwn(given);
    return runBeside(opening, (sandbox) => variablesFor(sandbox, given, extra), { command: rest, flags: given.flags });
  },
});

function openOwn({ flags, again, ...settings }: Omit<Arguments, "rest" | "positionals">): Promise<SandboxForView> {
  const forwardTo = flags["forward-to"];
  const awaited = forwardTo === undefined ? undefined : fullUrl(forwardTo);
  const completed = (one: Settings): Settings => {
    const { options, sources } = withForwardTo(one, forwardTo, flags.merchant);
    return { options: { ...DEFAULTS, ...options }, sources };
  };
  if (flags.watch !== undefined) return openReloading(async () => completed(await again()), awaited);
  const given = completed(settings);
  const toConfirm = endpointsToConfirm(given);
  return openForView({ options: completeOptions(given.options), toConfirm, awaited }, currentUi(flags));
}

/**
 * Registers the endpoint in a sandbox that already runs, and again after each reset. At the end, removes the endpoint
 * if it was created here.
 */
async function attachTo({ flags, options, sources }: Omit<Arguments, "rest">): Promise<SandboxForView> {
  const unused = givenFlag({ ...sources, db: undefined, controlToken: undefined, webhookSecret: undefined } as never);
  if (unused !== undefined)
    usageError(`The sandbox that already runs keeps its own settings: leave out ${unused}, or --attach.`);
  const { db, controlToken, webhookSecret } = options as Record<string, string | undefined>;
  const found = await findSandbox({
    url: flags.url,
    ...(sources.db === "flag" && { db }),
    ...(controlToken !== undefined && { "control-token": controlToken }),
  });
  const target = { url: found.url, token: found.controlToken };
  const watched: WatchedSandbox = {
    target,
    keepsRunning: true,
    follow: (output, from) => followLiveStream(target, output, from),
  };
  const forwardTo = flags["forward-to"];
  if (forwardTo === undefined) return { watched, close: async () => {} };
  const sandbox = sandboxAt(found, flags, { url: "--forward-to" });
  const { id: merchant } = await sandbox.merchant(flags.merchant);
  const wanted = { url: fullUrl(forwardTo), merchant, ...(webhookSecret !== undefined && { secret: webhookSecret }) };
  const first = await sandbox.control.endpoints.register(wanted);
  const again = { ...wanted, secret: first.secret };
  // A reset may give the endpoint another id.
  let latest = Promise.resolve(first);
  const following = await followLiveStream(target, {
    ...SILENT,
    event(event) {
      const isCleared = event.kind === "reset" && (event.merchant ?? merchant) === merchant;
      if (isCleared) latest = latest.then((before) => sandbox.control.endpoints.register(again).catch(() => before));
    },
  });
  following.failed.catch(() => {});
  return {
    watched,
    async close() {
      following.stop();
      const { id } = await latest;
      if (first.created) await sandbox.control.endpoints.remove({ id }).catch(() => {});
    },
  };
}

const SILENT: Output = { ready() {}, attached() {}, event() {}, defect() {}, notice() {}, app() {} };

/** The environment variables of the app, and the endpoint whose deliveries wait until the app listens. */
interface ForApp {
  variables: Record<string, string>;
  endpoint: AwaitedEndpoint | undefined;
}

async function variablesFor(
  sandbox: RunningSandbox,
  { flags, options }: Pick<Arguments, "flags" | "options">,
  extra: readonly [name: string, form: string][],
): Promise<ForApp> {
  const { id, key } = await sandbox.merchant(flags.merchant);
  const forwardTo = flags["forward-to"];
  const given = Array.isArray(options.endpoints) ? options.endpoints.map((one) => (one as { url: string }).url) : [];
  const urls = forwardTo === undefined ? given : [fullUrl(forwardTo)];
  const endpoint = await endpointForSecret(sandbox.control.endpoints, id, urls);
  const values = { url: `${sandbox.url}/v1`, key, secret: endpoint?.secret, sandbox: sandbox.url };
  return {
    variables: {
      ...variablesOf(sandbox, key, endpoint?.secret),
      ...Object.fromEntries(extra.map(([name, form]) => [name, filledIn(name, form, values)])),
    },
    endpoint: forwardTo === undefined ? undefined : endpoint,
  };
}

/** Parses --env. Splits at a comma only before the next `NAME=`. */
function readVariables(text: string | undefined): [name: string, form: string][] {
  return (text?.split(/,(?=[A-Za-z_]\w*=)/) ?? []).map((part) => {
    const [, name, form] = /^([A-Za-z_]\w*)=(.*)$/s.exec(part) ?? [];
    if (name === undefined || form === undefined)
      usageError(`--env takes a name and a value, such as PAY_URL={url}; received "${part}".`);
    return [name, form];
  });
}

function filledIn(name: string, form: string, values: Record<string, string | undefined>): string {
  return form.replaceAll(/\{(\w+)\}/g, (whole, word: string) => {
    if (!Object.hasOwn(values, word))
      usageError(
        `--env ${name}: there is no ${whole}.${didYouMean(word, Object.keys(values))} ` +
          `There are ${Object.keys(values)
            .map((known) => `{${known}}`)
            .join(", ")}.`,
      );
    return (
      values[word] ??
      usageError(`--env ${name}: there is no webhook secret without an endpoint; add --forward-to <url>.`)
    );
  });
}

/** Shows the sandbox with the app beside it. Resolves with the exit code of the app. */
async function runBeside(
  opening: Promise<SandboxForView>,
  variablesFor: (sandbox: RunningSandbox) => Promise<ForApp>,
  { command, flags }: { command: string[]; flags: Flags },
): Promise<number> {
  let beside: ReturnType<typeof createAppView> | undefined;
  const ending = new AbortController();
  let received: StopSignal | undefined;
  const watching = opening.then(async ({ watched }) => {
    // Remembers the signal that ends the view, because the app gets the same signal.
    void listenForStop().received.then((signal) => {
      received = signal;
    });
    const { url, token: controlToken } = watched.target;
    const sandbox = sandboxAt({ url, controlToken, signal: ending.signal });
    const { variables, endpoint } = await variablesFor(sandbox);
    beside = createAppView(sandbox.control);
    await beside.start(command, { ...process.env, ...variables }, endpoint);
    return beside.watch(watched);
  });
  let shown: number = exitCodes.runtime;
  try {
    shown = await show(watching, flags);
    return await endApp(beside?.app(), shown, received);
  } finally {
    await beside?.app()?.end("SIGKILL");
    beside?.close();
    ending.abort();
    await (await opening).close();
  }
}

/**
 * Ends the app with the signal that `dev` received, or with the signal of the key that ended the view. Without either,
 * sends SIGTERM, and the resulting exit code counts as success.
 */
async function endApp(app: App | undefined, shown: number, received: StopSignal | undefined): Promise<number> {
  const own = app?.endedWith();
  if (app === undefined || own !== undefined) return own ?? shown;
  const { signals } = constants;
  const byKey = (["SIGINT", "SIGTERM", "SIGHUP"] as const).find((name) => shown === 128 + signals[name]);
  const signal = received ?? byKey;
  const code = await app.end(signal ?? "SIGTERM");
  return signal === undefined && code === 128 + signals.SIGTERM ? exitCodes.ok : code;
}
