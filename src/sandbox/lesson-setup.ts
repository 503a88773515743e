// Joins lessons to what they look at, and to the calls that they make for whoever learns.

import { resolve } from "node:path";
import { SandboxError } from "../kernel/errors.ts";
import { notify } from "../kernel/listeners.ts";
import { createLessons, type LessonBook } from "../lessons/index.ts";
import type { Sight } from "../lessons/lesson-context.ts";
import type { World } from "../store/world/world.ts";
import type { Machine } from "./engine.ts";
import { packageFile } from "./package-files.ts";

interface Needs {
  machine: Machine;
  verifier: Sight;
  world: World;
  /** Where the sandbox listens. */
  url(): string;
}

export function openLessons({ machine, verifier, world, url }: Needs): LessonBook {
  const { options, stores, clock, fixtures, hub, heard } = machine;
  const lessons = createLessons({
    ...stores,
    clock,
    verifier,
    url,
    folder: options.lessons === undefined ? packageFile("fixtures/lessons") : resolve(options.lessons),
    mint: () => world.mint(fixtures[0]?.name ?? "").merchant,
    call: caller(machine, url),
    tell: (lesson) => hub.say({ kind: "lesson", lesson }),
    report: (error) => notify(heard.defects, { error, where: "lessons" }),
  });
  hub.listen(lessons.hear);
  return lessons;
}

interface WrittenCall {
  method: string;
  path: string;
  headers?: Record<string, string> | undefined;
  body?: unknown;
}

/** Calls come in by the door, as everybody's do, so that they leave what everybody's leave. */
function caller({ options, token }: Machine, url: () => string) {
  const isEverywhere = options.host === "0.0.0.0" || options.host === "::";
  return async ({ method, path, headers, body }: WrittenCall, apiKey: string): Promise<void> => {
    const address = new URL(path, url());
    if (isEverywhere) address.hostname = "127.0.0.1";
    const key = path.startsWith("/v1/") ? apiKey : token;
    const answer = await fetch(address, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    // What is so already need not be brought about.
    if (answer.ok || answer.status === 409) return;
    throw new SandboxError(`What the lesson does for the learner was refused: ${method} ${path} ${answer.status} ${text}`);
  };
}
