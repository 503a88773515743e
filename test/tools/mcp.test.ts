// The MCP server, used through the client of the protocol's own SDK.

import { expect, test } from "vitest";
import { folder, NOWHERE, ownEnvironment, PROGRAM } from "../support/program.ts";
import { importTool } from "./import-tool.ts";

const { Client } = await importTool("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await importTool("@modelcontextprotocol/sdk/client/stdio.js");

test("the SDK's client lists the tools, calls them and gets their errors", async () => {
  const client = new Client({ name: "test", version: "1" });
  const env = { ...ownEnvironment(), ...NOWHERE };
  const args = [PROGRAM, "mcp", "--allow-changes"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd: folder() }));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }: { name: string }) => name)).toContain("call_operation");
  const read = async (name: string, given: object) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    return { isError: isError === true, text: content[0].text as string };
  };
  const { text } = await read("call_operation", { operation: "payments.list", query: { limit: 2 } });
  expect(JSON.parse(text)).toMatchObject({ status: 200, body: { object: "list" } });
  expect(await read("request", { id: "req_none" })).toMatchObject({ isError: true });
  await expect(read("nothing", {})).rejects.toThrow(/There is no tool nothing/);
  await client.close();
});
