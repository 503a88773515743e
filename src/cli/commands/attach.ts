// `attach`: shows a sandbox that runs in another process, and reconnects when the connection is lost.

import { SandboxError } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { tellFrom } from "../output/follow.ts";
import { show } from "../output/show.ts";
import { faceFlags } from "../output/ui-choice.ts";
import type { Subject } from "../output/watched-sandbox.ts";
import { findPlace, placeFlags } from "../remote/instances.ts";

export const attach = command({
  summary: "watch and control a sandbox that runs in another process",
  usage: "attach [url]",
  positionals: 1,
  flags: { ...faceFlags, ...placeFlags },
  async run({ flags, positionals: [url = flags.url] }) {
    const place = await findPlace({ ...flags, url });
    return show(subjectAt({ url: originOf(place.url), token: place.controlToken }), flags);
  },
});

function originOf(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  throw new SandboxError(`attach takes an address such as http://127.0.0.1:4747; received "${url}".`, "usage");
}

const subjectAt = (target: Subject["target"]): Subject => ({ target, goesOn: true, tell: (voice, from) => tellFrom(target, voice, from) });
