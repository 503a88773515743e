// The interface for programs: errors, help and printed lines as JSON, and commands whose exit codes scripts check.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { lineSchemas } from "../../src/cli/output/line-schemas.ts";
import { exitCodes } from "../../src/kernel/errors.ts";
import { matchesSchema } from "../../src/schema/validator.ts";
import { folder, launch, linesOf, NOWHERE, run, runCommand, start } from "../support/program.ts";
import { open } from "../support/sandbox.ts";
import { deliver, openRegistered, receive, register } from "../support/webhooks.ts";

const schemaOf = (name: string) => {
  const { schema } = lineSchemas[name] ?? expect.fail(`no schema ${name}`);
  return schema();
};

describe("an error with --json", () => {
  test.each([
    [["wat", "--json"], "usage", exitCodes.usage],
    [["requests", "--json"], "runtime", exitCodes.runtime],
    [["wait", "--json", "--within", "10ms"], "runtime", exitCodes.runtime],
    [["start", "--json", "--port", "99999"], "usage", exitCodes.usage],
    [["start", "--json", "--memory", "--port", "0", "--fixtures", "."], "bad_fixture", exitCodes.badFixture],
  ])("is printed as JSON for %j, with the error %s and the exit code %i", async (words, error, exitCode) => {
    const { code, out, error: printed } = await run(words, NOWHERE);
    const lines = printed.trimEnd().split("\n");
    const last = JSON.parse(lines.at(-1) ?? "") as object;
    expect([code, out, last]).toEqual([exitCode, [], expect.objectContaining({ error, exitCode })]);
    expect(matchesSchema(schemaOf("error"), last)).toBe(true);
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  test("has the code of the API's error, and a hint with the fix", async () => {
    const { url } = await open();
    const { error } = await run(["requests", "req_none", "--json", "--url", url]);
    expect(JSON.parse(error)).toMatchObject({ error: "resource_not_found", exitCode: 2 });
    const { error: nearest } = await run(["fault", "add", "lost-respons", "--json", "--url", url]);
    expect(JSON.parse(nearest)).toMatchObject({ error: "validation_failed", hint: "Did you mean lost_response?" });
  });
});

interface HelpCommand {
  usage: string;
  example: string;
  arguments: { name: string; required: boolean; repeatable: boolean }[];
  options: { flag: string; type: string; values?: string[]; default?: string }[];
}

test("help --json has each command with an example that can be run, its options and the exit codes", async () => {
  const [line = ""] = (await run(["help", "--json"])).out;
  const help = JSON.parse(line) as { commands: HelpCommand[]; exitCodes: { code: number }[] };
  const every = Object.entries(await everyCommand()).flatMap(([name, { subcommands }]) =>
    subcommands ? Object.keys(subcommands).map((word) => `${name} ${word}`) : [name],
  );
  expect(help.commands.map(({ usage }) => /^merchant-sandbox ([a-z]+( [a-z]+)*)/.exec(usage)?.[1])).toEqual(every);
  for (const { example } of help.commands) expect(example).not.toMatch(/<[a-z]+>|\[/);
  expect(help.exitCodes.map(({ code }) => code)).toEqual(Object.values(exitCodes));
  const described = (name: string) => help.commands.find(({ usage }) => usage.includes(` ${name}`));
  const options = (name: string) => described(name)?.options ?? [];
  expect(described("fault add")?.arguments).toEqual([
    { name: "action", required: true, repeatable: false },
    { name: "operation|event", required: false, repeatable: true },
  ]);
  expect(options("start")).toContainEqual(
    expect.objectContaining({ flag: "--life", type: "choice", values: ["on", "off"], default: "on" }),
  );
  expect(options("requests")).toContainEqual(
    expect.objectContaining({ flag: "--limit", type: "integer", default: "25" }),
  );
});

test("help <command> --json describes one command", async () => {
  for (const words of [
    ["help", "wait", "--json"],
    ["wait", "--help", "--json"],
  ]) {
    const { commands } = JSON.parse((await run(words)).out[0] ?? "") as { commands: HelpCommand[] };
    expect(commands.map(({ usage }) => usage)).toEqual(["merchant-sandbox wait"]);
  }
});

/** The schema of a line, found by the value of the field `event`. */
const lineSchemaOf = (event: string) =>
  (schemaOf("events") as unknown as { anyOf: { title: string; properties: object }[] }).anyOf.find(
    ({ title }) => title === event,
  ) ?? expect.fail(`no schema of ${event}`);

test("each line of start, attach, listen and --follow has the fields of its schema, and no others", async () => {
  const cwd = folder();
  const started = await start(["--memory"], NOWHERE, cwd);
  const attached = launch(["attach", started.url, "--json"], NOWHERE);
  await attached.line((line) => line.includes('"attached"'));
  const receiver = await receive();
  receiver.always(500);
  const listening = launch(["listen", "--forward-to", receiver.url, "--url", started.url, "--json"], NOWHERE);
  await listening.line((line) => line.includes('"listening"'));
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${started.url}${path}`, {
      method,
      headers: { authorization: "Bearer sk_test_lodge", "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  await ask("POST", "/_sandbox/faults", {
    action: { type: "status", status: 503 },
    match: { operation: "payments.list" },
  });
  for (let calls = 0; calls < 3; calls++) await ask("GET", "/v1/payments?unknown=1");
  await ask("POST", "/v1/webhook-events/test", { type: "payment.succeeded" });
  await listening.line((line) => line.startsWith('{"event":"delivery"'));
  await attached.line((line) => line.startsWith('{"event":"delivery"'));
  await ask("POST", "/_sandbox/clock", { freeze: true });
  await ask("POST", "/_sandbox/merchants", {});
  await ask("POST", "/_sandbox/reset", {});
  await started.line((line) => line.startsWith('{"event":"reset"'));
  await attached.line((line) => line.startsWith('{"event":"reset"'));
  const rows = launch(["requests", "--follow", "--json", "--url", started.url]);
  await ask("GET", "/v1/payouts");
  await rows.line((line) => line.includes("/v1/payouts"));
  const lines = [started, attached, listening, rows].flatMap(({ out }) =>
    out.map((line) => JSON.parse(line) as { event?: string }),
  );
  const schema = schemaOf("events");
  for (const line of lines) {
    expect([line, matchesSchema(schema, line)]).toEqual([line, true]);
    const { properties } = lineSchemaOf(line.event ?? "requests");
    expect(Object.keys(line).filter((name) => !Object.hasOwn(properties, name))).toEqual([]);
  }
  const kinds = new Set(lines.map(({ event }) => event));
  for (const kind of ["ready", "attached", "listening", "request", "delivery", "fault", "reset"])
    expect(kinds).toContain(kind);
  expect(matchesSchema(schema, { event: "request" })).toBe(false);
});

test("start warns about the variables of another sandbox, and stop --json prints the stopped sandbox", async () => {
  const cwd = folder();
  const variables = { ...NOWHERE, MERCHANT_SANDBOX_URL: "http://127.0.0.1:1" };
  const { out, error } = await run(["start", "--detach", "--memory", "--port", "0", "--json"], variables, cwd);
  const { url, pid } = JSON.parse(out[0] ?? "") as { url: string; pid: number };
  expect(JSON.parse(error)).toEqual({
    note: expect.stringContaining(`run eval "$(npx merchant-sandbox env --url ${url})".`),
  });
  const { code, out: stopped } = await run(["stop", "--json"], NOWHERE, cwd);
  expect([code, JSON.parse(stopped[0] ?? "")]).toEqual([0, { url, pid, ended: true }]);
});

describe("commands for scripts", () => {
  test.each([
    ['{"expectations": []}', "mine.json:1 /all: all is required. Unknown field expectations. Allowed: within,"],
    ["[]", 'mine.json must be a JSON object, such as {"all": ['],
    ['{"all": [', "mine.json:1: is not JSON"],
    [
      '{"all": [{"records": {"kind": "payment"}},\n{"requests": {"match": {"operation": "payment.list"}}}]}',
      "mine.json:2 /all/1/requests/match/operation: there is no operation payment.list. Did you mean payments.list?",
    ],
    ['{"all": [{"records": {"kind": "payment"}}]}', "requests:nosuch: there is no operation nosuch."],
  ])("verify names the place of a mistake in its file or argument: %s", async (text, problem) => {
    const { url } = await open();
    const cwd = folder();
    writeFileSync(join(cwd, "mine.json"), text);
    const { code, error } = await run(["verify", "--file", "mine.json", "requests:nosuch", "--url", url], NOWHERE, cwd);
    expect([code, error]).toEqual([exitCodes.usage, expect.stringContaining(`merchant-sandbox: ${problem}`)]);
  });

  test("verify prints each mistake of an expectation on a separate line", async () => {
    const { url } = await open();
    const { error } = await run(["verify", '{"requests":{"match":{"operation":1},"count":3}}', "--url", url], NOWHERE);
    expect(error).toMatch(/; received 1\.\n {2}requests\.count must be an object; received 3\.\n$/);
  });

  test("verify exits with 0 if all holds; otherwise it prints the closest match and exits with 3", async () => {
    const bench = await open();
    await bench.call("GET", "/v1/payments");
    expect(await linesOf(bench, "verify", "requests:payments.list=1", "never:payroll.create")).toEqual([
      expect.stringMatching(/^pass requests: /),
      expect.stringMatching(/^Matched: req_/),
      expect.stringMatching(/^pass never: /),
    ]);
    const { code, out } = await runCommand(
      bench.url,
      "verify",
      '{"requests": {"match": {"operation": "payments.list", "status": 429}}}',
    );
    expect(code).toBe(3);
    expect(out.join("\n")).toMatch(/^fail requests: .*\nClosest:\n {2}req_\w+ .*status is 200, expected 429$/);
  });

  test.each([
    ["requests:payments.list=2..", 3],
    ["requests:payments.list=1..", 0],
    ["requests:payments.list=..1", 0],
    ["requests:payments.list=..0", 3],
    ["scenario:lost-response", 4],
  ])("verify %s exits with %i", async (expectation, code) => {
    const bench = await open();
    await bench.call("GET", "/v1/payments");
    await bench.scenarios.start({ name: "lost-response" });
    expect(await runCommand(bench.url, "verify", expectation)).toMatchObject({ code });
  });

  test("verify deliveries:<event> fails if the receiver rejected the event", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script(500);
    await deliver(bench);
    const { code, out } = await runCommand(bench.url, "verify", "deliveries:payment.*");
    expect([code, out.join(" ")]).toEqual([3, expect.stringMatching(/is pending; expected succeeded/)]);
  });

  test("verify rejects an unknown kind of expectation, and lists the kinds", async () => {
    const { url } = await open();
    expect(await runCommand(url, "verify", "payments.list")).toMatchObject({
      code: 2,
      error: expect.stringContaining("The kinds are requests, never, deliveries"),
    });
  });

  test("verdicts --fail exits with 3 if a verdict failed", async () => {
    const bench = await open();
    expect(await runCommand(bench.url, "verdicts", "--fail")).toMatchObject({ code: 0 });
    const receiver = await receive();
    receiver.always(401);
    await register(bench, receiver.url);
    await deliver(bench);
    expect(await runCommand(bench.url, "verdicts", "--fail")).toMatchObject({ code: 3 });
  });

  test("wait --settled waits for deliveries in flight, and counts deliveries that are due later", async () => {
    const bench = await open();
    const receiver = await receive();
    receiver.always(500);
    await register(bench, receiver.url);
    await deliver(bench);
    const [line = ""] = await linesOf(bench, "wait", "--settled", "--json");
    expect(JSON.parse(line)).toMatchObject({ settled: true, pending: 1 });
    expect(await linesOf(bench, "wait", "--settled")).toEqual([
      `Settled at ${bench.url}; 1 delivery waiting for a later attempt.`,
    ]);
  });
});
