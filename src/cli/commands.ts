// The commands, in the order in which the help shows them. Each is read when it is called: whoever starts a sandbox waits for no other.

import type { Command } from "./command.ts";

export const commands: Record<string, () => Promise<Command>> = {
  start: async () => (await import("./commands/start.ts")).start,
  attach: async () => (await import("./commands/attach.ts")).attach,
  learn: async () => (await import("./commands/learn.ts")).learn,
  exec: async () => (await import("./commands/exec.ts")).exec,
  wait: async () => (await import("./commands/wait.ts")).wait,
  status: async () => (await import("./commands/status.ts")).status,
  env: async () => (await import("./commands/env.ts")).env,
  stop: async () => (await import("./commands/stop.ts")).stop,
  healthcheck: async () => (await import("./commands/healthcheck.ts")).healthcheck,
  doctor: async () => (await import("./commands/doctor.ts")).doctor,
  receive: async () => (await import("./commands/receive.ts")).receive,
  trigger: async () => (await import("./commands/trigger.ts")).trigger,
  deliveries: async () => (await import("./commands/deliveries.ts")).deliveries,
  replay: async () => (await import("./commands/replay.ts")).replay,
  reset: async () => (await import("./commands/reset.ts")).reset,
  clock: async () => (await import("./commands/clock.ts")).clock,
  fault: async () => (await import("./commands/fault.ts")).fault,
  scenario: async () => (await import("./commands/scenario.ts")).scenario,
  traffic: async () => (await import("./commands/traffic.ts")).traffic,
  audit: async () => (await import("./commands/audit.ts")).audit,
};

/** All of them, for the help. */
export async function everyCommand(): Promise<Record<string, Command>> {
  const entries = Object.entries(commands).map(async ([name, load]) => [name, await load()] as const);
  return Object.fromEntries(await Promise.all(entries));
}
