// The workshop room: `learn --serve` opens it on the network, and `learn --join` joins it.

import { hostname, networkInterfaces, userInfo } from "node:os";
import { usageError } from "../../kernel/errors.ts";
import { randomToken } from "../../kernel/random.ts";
import { openSandbox, type Sandbox } from "../../sandbox/create.ts";
import { completeOptions, type GivenOptions } from "../../sandbox/options.ts";
import { jsonOutput, readyFacts, readyLine, type WatchedSandbox } from "../output/output.ts";
import { note, print } from "../output/print.ts";
import { show, watchOwnSandbox } from "../output/show-sandbox.ts";
import { stopSignal } from "../process/signals.ts";
import { type RunningSandbox, sandboxAt } from "../remote/running-sandbox.ts";
import { followLearner, learnerClient, openLessonPrompt } from "./lesson-prompt.ts";

export async function serveRoom(
  options: GivenOptions,
  flags: Record<string, string | undefined>,
  toConfirm: string | undefined,
): Promise<number> {
  if (options.seed !== undefined)
    usageError(
      `--seed cannot be used with --serve: a workshop's keys are random, so that no participant can compute another's; received ${options.seed}. Leave out --seed and MERCHANT_SANDBOX_SEED.`,
    );
  const complete = completeOptions(options, {
    memory: options.db === undefined,
    host: "0.0.0.0",
    allowedHost: networkNames(),
    // Always set, even with --host 127.0.0.1, because a proxy or a tunnel may expose the room to others.
    controlToken: randomToken(),
  });
  const sandbox = await openSandbox(complete, toConfirm);
  try {
    const { url } = await sandbox.room.open();
    return await show(watchRoom(sandbox, complete.host, url), flags);
  } finally {
    await sandbox.close();
  }
}

/** The host names of this machine for the network: its IPv4 addresses, then its name. */
function networkNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const near = addresses.filter(({ internal, family }) => !internal && family === "IPv4").map(({ address }) => address);
  return [...near, hostname().toLowerCase()];
}

function watchRoom(sandbox: Sandbox, host: string | undefined, url: string): WatchedSandbox {
  const watched = watchOwnSandbox(sandbox, host, {
    async opened(output) {
      const facts = await readyFacts(sandbox);
      if (output === jsonOutput) {
        output.ready(facts);
        output.notice({ event: "room", url }, url);
        return;
      }
      // This output may be on a projector, so it contains only the first merchant's key.
      print(readyLine({ ...facts, merchants: facts.merchants.slice(0, 1) }));
      for (const line of invitation(url, sandbox.controlToken)) print(line);
    },
    isShown: (event, output) => output === jsonOutput || ["lesson", "reset", "removal"].includes(event.kind),
  });
  return { ...watched, learning: { kind: "workshop", url } };
}

const invitation = (url: string, token: string | undefined) => [
  `The room is open at ${url}`,
  `With Node.js:      npx merchant-sandbox learn --join ${url} --name NAME`,
  `With curl:         curl -s --json '{"name": "NAME"}' '${url}/join?format=text'`,
  `In a browser:      ${url}/join`,
  `For the projector: ${url}/board`,
  ...(token === undefined ? [] : [`The control API requires the token ${token}; the room does not.`]),
];

interface Start {
  lesson: string | undefined;
  checkpoint: number | undefined;
}

/** Joins a room, and shows its lessons until the user stops. */
export async function joinRoom(
  address: string,
  name: string | undefined,
  { lesson, checkpoint }: Start,
): Promise<undefined> {
  const { origin, room, key } = parseRoomUrl(address);
  const stopped = stopSignal();
  const wanted =
    room === undefined
      ? undefined
      : { room, name: name ?? userInfo().username, ...(lesson !== undefined && { lesson }) };
  const joined = wanted && (await roomAt(origin, undefined).control.room.join(wanted));
  const sandbox = roomAt(origin, joined?.apiKey ?? key);
  const id = joined?.learner.id ?? (await ownId(sandbox));
  const client = learnerClient(sandbox, id);
  const there = await client.place();
  const isRequested = checkpoint !== undefined || (joined === undefined && lesson !== undefined);
  const first = isRequested ? await client.begin(lesson ?? there.learner.lesson ?? "1", checkpoint) : there;
  if (joined)
    note(
      `You are ${joined.learner.name}, and your key is ${joined.apiKey}. To come back, use learn --join '${pageOf(origin, joined.apiKey)}', or open that address in a browser.`,
    );
  const prompt = openLessonPrompt(client, first);
  const end = followLearner(client, first, prompt.update);
  await stopped;
  end();
  prompt.end();
  // The pending long poll would keep the process alive.
  process.exit(0);
}

/** Characters of a room's reply: of a learner or a lesson. The address may be any server's. */
const MAX_ROOM_REPLY = 1_048_576;

const roomAt = (url: string, controlToken: string | undefined) =>
  sandboxAt({ url, controlToken }, {}, {}, MAX_ROOM_REPLY);

/** The id of the learner whose key is sent. With such a key, the list contains only that learner. */
async function ownId({ url, control }: RunningSandbox): Promise<string> {
  const [learner] = (await control.learners.list()).data;
  if (learner) return learner.id;
  usageError(`No learner at ${url} has this key.`);
}

/** The learner's page. A browser never sends the fragment, so the key stays out of logs. */
const pageOf = (origin: string, key: string) => `${origin}/_sandbox/ui#learner/${key}`;

/** Parses the URL of a room, or of a learner's page, with which a learner returns. */
function parseRoomUrl(address: string): { origin: string; room?: string; key?: string } {
  const [, origin, room, key] =
    /^(https?:\/\/[^/]+)\/_sandbox\/(?:room\/([0-9a-f]+)(?:\/(?:join|board))?\/?|ui#learner\/(\w+))$/.exec(address) ??
    [];
  if (origin !== undefined && room !== undefined) return { origin, room };
  if (origin !== undefined && key !== undefined) return { origin, key };
  usageError(
    `--join takes the URL of a room, such as http://192.168.1.5:4747/_sandbox/room/3f9a1c7e5b2d8046, or of your page in it; received "${address}".`,
  );
}
