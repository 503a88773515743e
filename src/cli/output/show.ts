// Shows a sandbox, of this process or elsewhere, with the face that suits the surroundings, until somebody has seen enough.

import { isatty } from "node:tty";
import { isInForeground } from "../../../ui/terminal/foreground.ts";
import { exitCodes } from "../../kernel/errors.ts";
import { stopSignal } from "../process/stop-signal.ts";
import { jsonVoice, plainVoice, type Voice } from "./plain-output.ts";
import { type Face, faceOf } from "./ui-choice.ts";
import type { Subject } from "./watched-sandbox.ts";

/** The face that these flags and the surroundings of this process come to. */
export function faceHere(flags: Record<string, string | undefined>): Face {
  // The system is asked, and not process.stdin: that would be made for the question.
  return faceOf(flags, { isTerminal: isatty(0) && isatty(1) && isInForeground(), environment: process.env });
}

/** Answers the exit code. */
export async function show(opening: Subject | Promise<Subject>, flags: Record<string, string | undefined>): Promise<number> {
  const face = faceHere(flags);
  if (face !== "dashboard") return await tellUntilStopped(await opening, face === "json" ? jsonVoice : plainVoice);
  // Loaded only here: who has no terminal does not wait for it.
  const [subject, { showOnTerminal }] = await Promise.all([opening, import("./terminal-session.ts")]);
  return showOnTerminal(subject, { color: flags["no-color"] === undefined });
}

async function tellUntilStopped(subject: Subject, voice: Voice): Promise<number> {
  // Listened for before anything is said: whoever reads that it is ready may stop it at once.
  const stopped = stopSignal();
  const telling = await subject.tell(voice);
  await Promise.race([stopped, telling.over]).finally(telling.end);
  return exitCodes.ok;
}
