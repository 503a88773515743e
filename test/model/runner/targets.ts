// The systems under test: a sandbox in this process, or the built program, which a crash kills.

import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox, type Sandbox } from "../../../src/sandbox/create.ts";
import { type Started, start } from "../../support/program.ts";
import { call } from "../../support/sandbox.ts";
import type { Request } from "../call.ts";
import type { HttpResponse } from "./compare-responses.ts";

export interface Target {
  /** Resolves to undefined if the connection broke. */
  call(request: Request): Promise<HttpResponse | undefined>;
  /** Kills the program, or closes the sandbox of this process, and restarts it on the same file at this time. */
  crash(now: number): Promise<void>;
  /** Stops the target and returns the defects it reported, if any. */
  close(): Promise<string | undefined>;
}

export interface TargetOptions {
  now: number;
  /** Such as 30/10s. */
  rateLimit: string;
  bodies: "checked" | "open";
  /** The real time after which an attempt at a silent receiver fails. */
  webhookTimeout: string;
  /** Whether the trace has crashes, and so needs a database file. */
  crashes: boolean;
}

const folder = () => mkdtempSync(join(tmpdir(), "merchant-sandbox-model-"));
const remove = (path: string) => rmSync(path, { recursive: true, force: true });
const iso = (time: number) => new Date(time).toISOString();

export async function inProcess({ now, rateLimit, bodies, webhookTimeout, crashes }: TargetOptions): Promise<Target> {
  const cwd = crashes ? folder() : undefined;
  const where = cwd === undefined ? {} : { db: join(cwd, "data.db"), memory: false };
  const defects: unknown[] = [];
  const open = async (clock: number): Promise<Sandbox> => {
    const sandbox = await createSandbox({ ...where, clock, life: "off", rateLimit, bodies, webhookTimeout });
    sandbox.onDefect(({ error }) => defects.push(error));
    return sandbox;
  };
  let sandbox = await open(now);
  let agent = new Agent({ keepAlive: true });
  const end = async () => {
    agent.destroy();
    await sandbox.close();
  };
  return {
    call: (request) => send(sandbox.url, request, agent),
    async crash(time) {
      await end();
      sandbox = await open(time);
      agent = new Agent({ keepAlive: true });
    },
    async close() {
      await end();
      if (cwd !== undefined) remove(cwd);
      return defects[0] === undefined ? undefined : String(defects[0]);
    },
  };
}

export async function builtProgram({ now, rateLimit, bodies, webhookTimeout }: TargetOptions): Promise<Target> {
  const cwd = folder();
  const words = [
    "--db",
    "data.db",
    "--life",
    "off",
    "--rate-limit",
    rateLimit,
    "--bodies",
    bodies,
    "--webhook-timeout",
    webhookTimeout,
  ];
  const open = (time: number): Promise<Started> => start([...words, "--clock", iso(time)], {}, cwd);
  let started = await open(now);
  let agent = new Agent({ keepAlive: true });
  return {
    call: (request) => send(started.url, request, agent),
    async crash(time) {
      agent.destroy();
      await started.kill();
      started = await open(time);
      agent = new Agent({ keepAlive: true });
    },
    async close() {
      agent.destroy();
      const { error } = await started.kill();
      remove(cwd);
      return error === "" ? undefined : error;
    },
  };
}

/** Resolves to undefined if the connection broke. */
const send = (url: string, { method, path, headers, body }: Request, agent: Agent): Promise<HttpResponse | undefined> =>
  call(url, method, path, { key: null, headers, body, contentType: null, agent }).catch(() => undefined);
