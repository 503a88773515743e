// The MCP server, called over its standard input and output as an MCP client calls it.

import { expect, test } from "vitest";
import { launch, NOWHERE } from "../support/program.ts";
import { open } from "../support/sandbox.ts";

interface Answer {
  id: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  result?: any;
  error?: { code: number; message: string };
}

/** Starts the MCP server in an empty folder, where it finds no sandbox. */
function serve(...words: string[]) {
  const program = launch(["mcp", ...words], NOWHERE);
  let sent = 0;
  const send = (text: string) => void program.child.stdin?.write(`${text}\n`);
  const ask = async (method: string, params?: object): Promise<Answer> => {
    const id = ++sent;
    send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return JSON.parse(await program.line((line) => (JSON.parse(line) as Answer).id === id)) as Answer;
  };
  return {
    ...program,
    send,
    ask,
    /** Calls a tool. Returns its reply, the text of its error, or the protocol error. */
    async use(name: string, given: object = {}) {
      const { result, error } = await ask("tools/call", { name, arguments: given });
      if (error) return error;
      return result.isError ? result.content[0].text : JSON.parse(result.content[0].text);
    },
    async end() {
      program.child.stdin?.end();
      return (await program.ended).code;
    },
  };
}

test("the server offers at most ten tools; --allow-changes adds the tools that change data", async () => {
  const server = serve("--allow-changes");
  const { result } = await server.ask("initialize", { protocolVersion: "2025-03-26", capabilities: {} });
  expect(result).toMatchObject({ protocolVersion: "2025-03-26", serverInfo: { name: "merchant-sandbox" } });
  const all = (await server.ask("tools/list")).result.tools as { name: string; description: string }[];
  expect(all.length).toBeLessThanOrEqual(10);
  expect(JSON.stringify(all).length).toBeLessThan(6_000);
  expect(await server.end()).toBe(0);
  const careful = serve();
  const safe = (await careful.ask("tools/list")).result.tools as { name: string }[];
  const missing = all.map(({ name }) => name).filter((name) => !safe.some((tool) => tool.name === name));
  expect(missing).toEqual(["fault", "clock", "reset"]);
  for (const name of missing) expect(await careful.use(name)).toMatchObject({ code: -32_602 });
  expect(await careful.use("call_operation", { operation: "payroll.create" })).toMatch(/--allow-changes/);
  await careful.end();
});

test("the server uses the sandbox of --url, and starts its own sandbox if none runs", async () => {
  const { url } = await open();
  const server = serve("--url", url, "--allow-changes");
  expect(await server.use("fault", { action: "503", on: "payments.list" })).toMatchObject({ status: "armed" });
  expect(await server.use("call_operation", { operation: "payments.list" })).toMatchObject({ status: 503 });
  const { status, request, body } = await server.use("call_operation", { operation: "payments.list" });
  expect([status, body.data[0]]).toEqual([200, expect.objectContaining({ object: "payment" })]);
  expect(await server.use("request", { id: request })).toMatchObject({ operation: "payments.list", status: 200 });
  const { data: verdicts } = await server.use("verdicts", { merchant: "mer_lodge" });
  expect(verdicts).toContainEqual(expect.objectContaining({ requests: expect.arrayContaining([request]) }));
  expect((await server.use("requests", { operation: "payments.list" })).data).toHaveLength(2);
  await server.use("fault", { action: "body=html", on: "payments.list" });
  expect(await server.use("call_operation", { operation: "payments.list" })).toMatchObject({
    status: 200,
    body: expect.stringContaining("<html"),
  });
  expect(await server.use("clock", { advance: "1h" })).toMatchObject({ now: "2026-01-05T13:00:00.000Z" });
  expect(await server.use("fault", { remove: "all" })).toEqual({ removed: 2 });
  expect(await server.use("reset")).toBeDefined();
  expect((await server.use("requests")).data).toEqual([]);
  await server.end();
  const alone = serve();
  const { baseUrl, database } = await alone.use("overview");
  expect([baseUrl.startsWith(url), database]).toEqual([false, null]);
  expect(await alone.end()).toBe(0);
});

test("the server accepts only test keys, and suggests a name for an unknown operation", async () => {
  const server = serve();
  expect(await server.use("call_operation", { operation: "payment.list" })).toMatch(/Did you mean payments\.list/);
  expect(await server.use("call_operation", { operation: "payments.list", apiKey: "sk_live_1" })).toMatch(/sk_test_/);
  await server.end();
});

test("the server responds to malformed calls with JSON-RPC errors", async () => {
  const server = serve();
  server.send("no JSON");
  expect(JSON.parse(await server.line((line) => line.includes("-32700")))).toMatchObject({ id: null });
  expect((await server.ask("tools/none")).error).toMatchObject({ code: -32_601 });
  expect((await server.ask("tools/call", { name: "overview", arguments: [] })).error).toMatchObject({ code: -32_602 });
  expect((await server.ask("tools/call", { name: "requests", arguments: { merchnt: "x" } })).error?.message).toMatch(
    /^requests has no argument merchnt\. It has limit, operation/,
  );
  expect((await server.ask("tools/call", { name: "request", arguments: {} })).error?.message).toMatch(/needs .* id/);
  expect((await server.ask("tools/call", {})).error?.message).toBe("tools/call needs the name of a tool.");
  expect((await server.ask("tools/call", { name: "none" })).error?.message).toMatch(/overview, .*call_operation\.$/);
  server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  server.send('[{"jsonrpc":"2.0","method":"none"},{"jsonrpc":"2.0","id":"one","method":"ping"},{"id":"two"}]');
  expect(JSON.parse(await server.line((line) => line.startsWith("[")))).toMatchObject([
    { id: "one", result: {} },
    { id: null, error: { code: -32_600 } },
  ]);
  expect((await server.ask("ping")).result).toEqual({});
  await server.end();
});
