// The room of a workshop: served to a network by whoever leads it, joined by everybody else.

import { hostname, networkInterfaces, userInfo } from "node:os";
import { SandboxError } from "../../kernel/errors.ts";
import { randomToken } from "../../kernel/random.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create.ts";
import { completeOptions, type GivenOptions } from "../../sandbox/options.ts";
import { note, print } from "../command.ts";
import { jsonVoice, plainVoice, readyFacts, readyLine, type Voice } from "../output/plain-output.ts";
import { show } from "../output/show.ts";
import type { Subject } from "../output/watched-sandbox.ts";
import { stopSignal } from "../process/stop-signal.ts";
import { localUrl } from "../remote/environment.ts";
import { running } from "../remote/running-sandbox.ts";
import { followRoom, roomLearnerClient } from "./learner-client.ts";
import { openTutor } from "./lesson-prompt.ts";

export async function serveRoom(options: GivenOptions, flags: Record<string, string | undefined>): Promise<number> {
  const complete = completeOptions(options, {
    memory: options.db === undefined,
    host: "0.0.0.0",
    allowedHost: ownNames(),
    // Nobody in the room can work out another one's key.
    seed: Number.parseInt(randomToken().slice(0, 8), 16),
  });
  const sandbox = await createSandbox(complete);
  try {
    const near = localUrl(sandbox, complete.host);
    const { url } = await sandbox.room.open();
    return await show(roomSubject(sandbox, near, url), flags);
  } finally {
    await sandbox.close();
  }
}

/** By which names the machine can be called from elsewhere: what is on its network first. */
function ownNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const near = addresses.filter(({ internal, family }) => !internal && family === "IPv4").map(({ address }) => address);
  return [...near, hostname().toLowerCase()];
}

function roomSubject(sandbox: Sandbox, near: string, url: string): Subject {
  let voice: Voice | undefined;
  sandbox.onHappening((happening) => {
    if (voice === jsonVoice || happening.kind === "lesson" || happening.kind === "reset") voice?.happened(happening);
  });
  sandbox.onDefect((defect) => (voice ?? plainVoice).defect(defect));
  return {
    target: { url: near, token: sandbox.controlToken },
    goesOn: false,
    learning: { kind: "workshop", url },
    async tell(to) {
      const facts = await readyFacts(sandbox);
      if (to === jsonVoice) {
        to.ready(facts);
        to.aside({ event: "room", url }, url);
      }
      // What is said here may stand on a projector: no attendee's key.
      else
        for (const line of [readyLine({ ...facts, merchants: facts.merchants.slice(0, 1) }), ...invitation(url, sandbox.controlToken)])
          print(line);
      voice = to;
      return {
        over: new Promise(() => {}),
        end() {
          voice = undefined;
        },
      };
    },
  };
}

const invitation = (url: string, token: string | undefined) => [
  `The room is open at ${url}`,
  `Who has the program:  npx merchant-sandbox learn --join ${url} --name NAME`,
  `Who has curl:         curl -s --json '{"name": "NAME"}' '${url}/join?format=text'`,
  `Who has a browser:    ${url}/join`,
  `For the projector:    ${url}/board`,
  ...(token === undefined ? [] : [`The control plane requires the token ${token}; the room does not.`]),
];

interface Wanted {
  lesson: string | undefined;
  checkpoint: number | undefined;
}

/** Learns in a room until somebody has had enough. */
export async function joinRoom(address: string, name: string | undefined, { lesson, checkpoint }: Wanted): Promise<undefined> {
  const { origin, room, key } = addressOf(address);
  const sandbox = running({ url: origin });
  const stopped = stopSignal();
  const joined =
    key === undefined
      ? await sandbox.control.room.join({ room, name: name ?? userInfo().username, ...(lesson !== undefined && { lesson }) })
      : undefined;
  const learner = { room, key: key ?? joined?.apiKey ?? "" };
  const client = roomLearnerClient(sandbox, learner);
  const there = joined ?? (await client.place());
  const isElsewhere = checkpoint !== undefined || (joined === undefined && lesson !== undefined);
  const first = isElsewhere ? await client.begin(lesson ?? there.learner.lesson ?? "1", checkpoint) : there;
  if (joined) note(`You are ${joined.learner.name}, and your key is ${joined.apiKey}. To come back: learn --join ${joined.url}`);
  const tutor = openTutor(client, first);
  const end = followRoom(sandbox, learner, first, tutor.heard);
  await stopped;
  end();
  tutor.end();
  // What still waits for news would hold the process.
  process.exit(0);
}

/** An address of a room, or of the own place in it, by which somebody comes back. */
function addressOf(address: string) {
  const [, origin, room, key] =
    /^(https?:\/\/[^/]+)\/_sandbox\/room\/([0-9a-f]+)(?:\/learners\/(\w+)|\/(?:join|board))?\/?$/.exec(address) ?? [];
  if (origin === undefined || room === undefined)
    throw new SandboxError(
      `--join takes the address of a room, such as http://192.168.1.5:4747/_sandbox/room/3f9a1c7e; received "${address}".`,
      "usage",
    );
  return { origin, room, key };
}
