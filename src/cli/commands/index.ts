// The commands, in the order of the help. Each is loaded only when it runs, to keep startup fast.

import type { Command } from "../command.ts";
import type { CommandGroups } from "../help.ts";

export const commands: Record<string, () => Promise<Command>> = {
  start: async () => (await import("./start.ts")).start,
  attach: async () => (await import("./start.ts")).attach,
  learn: async () => (await import("./learn.ts")).learn,
  exec: async () => (await import("./exec.ts")).exec,
  dev: async () => (await import("./dev.ts")).dev,
  wait: async () => (await import("./status.ts")).wait,
  status: async () => (await import("./status.ts")).status,
  env: async () => (await import("./env.ts")).env,
  merchant: async () => (await import("./merchant.ts")).merchant,
  stop: async () => (await import("./stop.ts")).stop,
  doctor: async () => (await import("./doctor.ts")).doctor,
  receive: async () => (await import("./receive.ts")).receive,
  listen: async () => (await import("./listen.ts")).listen,
  make: async () => (await import("./records.ts")).make,
  move: async () => (await import("./records.ts")).move,
  show: async () => (await import("./records.ts")).show,
  trigger: async () => (await import("./trigger.ts")).trigger,
  requests: async () => (await import("./lists.ts")).requests,
  events: async () => (await import("./lists.ts")).events,
  deliveries: async () => (await import("./lists.ts")).deliveries,
  verdicts: async () => (await import("./lists.ts")).verdicts,
  endpoints: async () => (await import("./lists.ts")).endpoints,
  replay: async () => (await import("./trigger.ts")).replay,
  reset: async () => (await import("./snapshot.ts")).reset,
  snapshot: async () => (await import("./snapshot.ts")).snapshot,
  fixture: async () => (await import("./fixture.ts")).fixture,
  clock: async () => (await import("./clock.ts")).clock,
  fault: async () => (await import("./fault.ts")).fault,
  scenario: async () => (await import("./scenario.ts")).scenario,
  compare: async () => (await import("./compare.ts")).compare,
  verify: async () => (await import("./verify.ts")).verify,
  audit: async () => (await import("./audit.ts")).audit,
  openapi: async () => (await import("./openapi.ts")).openapi,
  types: async () => (await import("./openapi.ts")).types,
  schema: async () => (await import("./openapi.ts")).schema,
  assumptions: async () => (await import("./openapi.ts")).assumptions,
  skill: async () => (await import("./skill.ts")).skill,
  mcp: async () => (await import("./mcp.ts")).mcp,
  completion: async () => (await import("./completion.ts")).completionOf(everyCommand),
};

/** Names that commands have in other tools, with the commands of this program that do the same. */
export const otherNames: Readonly<Record<string, readonly string[]>> = {
  logs: ["requests", "deliveries"],
  webhooks: ["deliveries", "endpoints"],
  attempts: ["deliveries"],
  explain: ["verdicts <id>", "deliveries <id>"],
  trace: ["requests <id>", "events <id>"],
  create: ["make"],
  update: ["move"],
  seed: ["fixture", "make"],
  restore: ["snapshot restore"],
  run: ["dev", "exec"],
  test: ["exec"],
  serve: ["start"],
  ps: ["status"],
  config: ["env", "schema"],
};

/** The groups of the help, by task. `help --all` lists the other commands. */
export const helpGroups: CommandGroups = {
  Run: ["start", "dev", "learn", "status", "stop"],
  Webhooks: ["receive", "listen", "events", "deliveries", "replay"],
  Records: ["make", "move", "show", "trigger"],
  Break: ["fault", "scenario", "requests", "verdicts"],
  Time: ["clock", "snapshot", "reset"],
  CI: ["exec", "verify", "audit"],
};

/** Loads all commands, for the help. */
export async function everyCommand(): Promise<Record<string, Command>> {
  const entries = Object.entries(commands).map(async ([name, load]) => [name, await load()] as const);
  return Object.fromEntries(await Promise.all(entries));
}
