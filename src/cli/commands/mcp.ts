// `mcp`: a server of the Model Context Protocol over standard input and output, for coding agents.

import { createInterface } from "node:readline";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { isObject } from "../../kernel/json-object.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create.ts";
import { version } from "../../sandbox/package-files.ts";
import type { Flags } from "../arguments.ts";
import { command } from "../command.ts";
import { answerLine, RpcError, type RpcMethods } from "../mcp/json-rpc.ts";
import { type Tool, tools } from "../mcp/tools.ts";
import { print } from "../output/print.ts";
import { connectionFlags, findSandbox, namedUrl } from "../remote/find-sandbox.ts";
import { whyNotReady } from "../remote/probe.ts";
import { type RunningSandbox, sandboxAt } from "../remote/running-sandbox.ts";

/** The supported versions, newest first. A client that asks for another version is offered the newest. */
const PROTOCOLS = ["2025-06-18", "2025-03-26", "2024-11-05"];

export const mcp = command({
  summary: "serve the tools of the Model Context Protocol over stdio, for coding agents",
  usage: "mcp",
  flags: {
    "allow-changes": { description: "also offer the tools that change data: writes, faults, the clock and resets" },
    ...connectionFlags,
  },
  async run({ flags }) {
    const sandbox = createConnection(flags);
    const methods = methodsFor(sandbox.find, flags["allow-changes"] !== undefined);
    const answers: Promise<void>[] = [];
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() === "") continue;
      answers.push(
        answerLine(line, methods).then((answer) => {
          if (answer) print(JSON.stringify(answer));
        }),
      );
    }
    await Promise.all(answers);
    await sandbox.close();
    return exitCodes.ok;
  },
});

/** Finds the running sandbox. If none runs, starts one for this server at the first call. */
function createConnection(flags: Flags) {
  let own: Promise<Sandbox> | undefined;
  return {
    async find(): Promise<RunningSandbox> {
      if (own) return sandboxAt({ url: (await own).url, controlToken: undefined });
      const found = await findSandbox(flags, { mayBeAbsent: true });
      const isNamed = namedUrl(flags) !== undefined || flags.db !== undefined;
      if (isNamed || (await whyNotReady(found.url, found.controlToken)) === undefined) return sandboxAt(found, flags);
      own ??= createSandbox();
      return sandboxAt({ url: (await own).url, controlToken: undefined });
    },
    close: async () => (await own)?.close(),
  };
}

function methodsFor(find: () => Promise<RunningSandbox>, mayChange: boolean): RpcMethods {
  const offered = tools.filter(({ changes }) => mayChange || !changes);
  return {
    initialize: ({ protocolVersion }) => ({
      protocolVersion: PROTOCOLS.includes(String(protocolVersion)) ? protocolVersion : PROTOCOLS[0],
      capabilities: { tools: {} },
      serverInfo: { name: "merchant-sandbox", version: version() },
    }),
    ping: () => ({}),
    "tools/list": () => ({ tools: offered.map(listed) }),
    async "tools/call"({ name, arguments: given = {} }) {
      if (typeof name !== "string") throw new RpcError("params", "tools/call needs the name of a tool.");
      const tool = offered.find((one) => one.name === name);
      if (!tool) throw new RpcError("params", `There is no tool ${name}. ${whyMissing(name, offered)}`);
      if (!isObject(given)) throw new RpcError("params", "arguments must be an object.");
      checkNames(tool, given);
      try {
        const reply = await tool.call(await find(), given, mayChange);
        return { content: [{ type: "text", text: JSON.stringify(reply) }] };
      } catch (error) {
        return { content: [{ type: "text", text: messageOf(error) }], isError: true };
      }
    },
  };
}

const listed = ({ name, description, properties, required, changes }: Tool) => ({
  name,
  description,
  inputSchema: { type: "object", properties, ...(required && { required }), additionalProperties: false },
  annotations: { readOnlyHint: !changes && name !== "call_operation" },
});

const whyMissing = (name: string, offered: readonly Tool[]) =>
  tools.some((tool) => tool.name === name)
    ? "It changes data: start the server with --allow-changes."
    : `The tools are ${offered.map((tool) => tool.name).join(", ")}.`;

function checkNames({ name, properties, required = [] }: Tool, given: Record<string, unknown>): void {
  const unknown = Object.keys(given).find((one) => !Object.hasOwn(properties, one));
  if (unknown !== undefined)
    throw new RpcError("params", `${name} has no argument ${unknown}. It has ${Object.keys(properties).join(", ")}.`);
  const missing = required.find((one) => given[one] === undefined);
  if (missing !== undefined) throw new RpcError("params", `${name} needs the argument ${missing}.`);
}

/** If a fault cuts the connection, fetch rejects with "fetch failed", and only its cause says why. */
const messageOf = (error: unknown) => {
  if (error instanceof SandboxError) return error.message;
  const { message, cause } = error as Error;
  return `No answer: ${(cause as Error | undefined)?.message ?? message}.`;
};
