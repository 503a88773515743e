// `dev` runs the sandbox, its dashboard and the user's app in one command, in a terminal and without one.

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/create.ts";
import { folder, isAlive, launch, runShared } from "../support/program.ts";
import { call, control, freePort, open } from "../support/sandbox.ts";
import { openProgram } from "../support/terminal.ts";
import { receive } from "../support/webhooks.ts";

/**
 * An app that declines a booking before it listens, and verifies each webhook with the secret of its environment. Uses
 * no `fetch`, because the first call of `fetch` compiles WebAssembly.
 */
const APP = `
import { createHmac } from "node:crypto";
import { createServer, request as call } from "node:http";
const { PAY_URL, PAY_SECRET, MERCHANT_API_KEY, PORT, LISTENS = "yes" } = process.env;
console.log("app", process.pid);
const headers = { authorization: "Bearer " + MERCHANT_API_KEY };
const decline = () => new Promise((resolve) => {
  const path = PAY_URL + "/hospitality/bookings/bkg_pending/decline";
  call(path, { method: "POST", headers }, (answer) => answer.resume().once("end", resolve)).end();
});
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const isOurs = createHmac("sha256", PAY_SECRET).update(body).digest("hex") === request.headers["x-webhook-signature"];
  console.log(request.headers["x-webhook-event"], isOurs ? "verified" : "forged", request.url);
  response.writeHead(isOurs ? 200 : 401).end();
});
process.on("SIGINT", () => process.exit(6));
process.on("SIGTERM", () => process.exit(0));
await decline();
if (LISTENS === "yes") server.listen(Number(PORT), "localhost");
else setInterval(() => {}, 1_000);
`;

const FLAGS = ["--memory", "--port", "0", "--env", "PAY_URL={url}", "--env", "PAY_SECRET={secret}"];

async function app(variables: Record<string, string> = {}) {
  const file = join(folder(), "app.mjs");
  writeFileSync(file, APP);
  const port = String(await freePort());
  const words = ["dev", ...FLAGS, "--forward-to", `${port}/hooks`, "--", process.execPath, file];
  return { file, port, words, variables: { PORT: port, ...variables } };
}

const pidIn = (text: string) => Number(/app (\d+)/.exec(text)?.[1]);

describe("dev without a terminal", () => {
  test("holds the first webhook until the app listens and can verify the signature", async () => {
    const { words, variables } = await app();
    const program = launch(words, variables);
    const delivered = await program.line((line) => line.includes("delivery of booking.declined"));
    await program.line((line) => line === "app | booking.declined verified /hooks");
    expect(delivered).toMatch(/ 1\/6 200 .* delivered$/);
    const pid = pidIn(await program.line((line) => line.startsWith("app | app ")));
    program.child.kill("SIGINT");
    const { code, error } = await program.ended;
    expect([code, isAlive(pid)]).toEqual([6, false]);
    expect(error).toMatch(/The app accepts connections at http:\/\/localhost:\d+\/hooks\./);
  });

  test("holds the pending deliveries of an existing database, too, until the app listens", async () => {
    const { words, port, variables } = await app();
    const db = join(folder(), "sandbox.db");
    const endpoints = [{ url: `http://localhost:${port}/hooks` }];
    const before = await createSandbox({ memory: false, db, endpoints });
    await call(before.url, "POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
    await expect.poll(async () => (await before.deliveries.list({})).data.map(({ attempt }) => attempt)).toEqual([1]);
    await before.close();
    const program = launch(
      ["dev", "--db", db, ...words.filter((word) => word !== "dev" && word !== "--memory")],
      variables,
    );
    const delivered = await program.line((line) => line.includes("delivery of booking.declined"));
    expect(delivered).toMatch(/ 2\/6 200 .* delivered$/);
    program.child.kill("SIGTERM");
    await program.ended;
  });

  test("ends when the app ends, with the app's exit code", async () => {
    const { out, code } = await runShared([
      "dev",
      ...FLAGS.slice(0, 3),
      "--",
      "sh",
      "-c",
      "echo $MERCHANT_API_KEY; exit 7",
    ]);
    expect([code, out.includes("app | sk_test_lodge")]).toEqual([7, true]);
  });

  test("turns --isolation on by default, even with --watch", async () => {
    const calls =
      "fetch(process.env.MERCHANT_BASE_URL + '/payments', { headers: { baggage: 'merchant-sandbox=mer_other', " +
      "authorization: 'Bearer ' + process.env.MERCHANT_API_KEY } }).then(({ status }) => console.log('got', status))";
    const { out } = await runShared(["dev", "--watch", ...FLAGS.slice(0, 3), "--", process.execPath, "-e", calls]);
    expect(out).toContain("app | got 403");
  });

  test("sends nothing to an app that never listens", async () => {
    const { words, variables } = await app({ LISTENS: "no" });
    const program = launch(["dev", "--json", ...words.slice(1)], variables);
    const { url } = JSON.parse(await program.line((line) => line.includes('"event":"ready"')));
    await program.line((line) => line.includes("/decline"));
    const drained = await control(url, "POST", "/drain", { within: "1s" });
    expect(drained).toMatchObject({ settled: true, pending: 1, inFlight: 0 });
    program.child.kill("SIGTERM");
    expect((await program.ended).code).toBe(0);
    expect(program.out.some((line) => line.includes('"event":"delivery"'))).toBe(false);
    expect(program.out.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ event: "output", from: "stdout", line: expect.stringMatching(/^app \d+$/) }),
    );
  });

  test("does not start the app if the sandbox's port is in use, and reports a program at the app's port", async () => {
    const other = await open();
    const taken = await runShared(["dev", "--memory", "--port", String(other.port), "--", "echo", "started"]);
    expect([taken.code, taken.out]).toEqual([5, []]);
    const receiver = await receive();
    const words = ["dev", ...FLAGS.slice(0, 3), "--forward-to", receiver.url, "--", "true"];
    expect((await runShared(words)).out).toContain(
      `app | Before the app has started, another program accepts connections at ${receiver.url}.`,
    );
  });

  test("uses a running sandbox with --attach, and removes the app's endpoint at the end", async () => {
    const bench = await open();
    const port = await freePort();
    const shown = ["sh", "-c", 'echo "$MERCHANT_SANDBOX_URL $MERCHANT_WEBHOOK_SECRET"'];
    const words = ["dev", "--attach", "--url", bench.url, "--webhook-secret", "whsec_local"];
    const { code, out } = await runShared([...words, "--forward-to", String(port), "--", ...shown]);
    expect([code, out]).toEqual([0, expect.arrayContaining([`app | ${bench.url} whsec_local`])]);
    expect((await bench.endpoints.list()).data).toEqual([]);
    const refused = await runShared(["dev", "--attach", "--seed", "2", "--", "true"]);
    expect([refused.code, refused.error]).toEqual([
      2,
      "merchant-sandbox: The sandbox that already runs keeps its own settings: leave out --seed, or --attach.\n",
    ]);
  });

  test("with --attach, removes the endpoint at the end although a reset gave it another id", async () => {
    const bench = await open();
    await bench.endpoints.register({ url: "http://localhost:3999/other" });
    const target = `localhost:${await freePort()}/hooks`;
    const shared = ["dev", "--attach", "--url", bench.url, "--forward-to", target, "--", "sh", "-c"];
    // The app resets the sandbox, and ends when its endpoint is registered again.
    const app = `curl -s -X POST -H 'Content-Type: application/json' -d '{}' $MERCHANT_SANDBOX_URL/_sandbox/reset
      until curl -s $MERCHANT_SANDBOX_URL/_sandbox/endpoints | grep -q ${target}; do sleep 0.1; done`;
    expect((await runShared([...shared, app])).code).toBe(0);
    expect((await bench.endpoints.list()).data).toEqual([]);
  });

  test("reports a mistake in the command with the fix", async () => {
    const memory = FLAGS.slice(0, 3);
    const said = async (...words: string[]) => {
      const { code, error } = await runShared(["dev", ...memory, ...words]);
      expect(code).toBe(2);
      return error;
    };
    expect(await said("--")).toContain("The command is missing: npx merchant-sandbox dev --forward-to 3000/hooks --");
    expect(await said("--env", "URL={ulr}", "--", "true")).toContain("there is no {ulr}. Did you mean url?");
    expect(await said("--env", "S={secret}", "--", "true")).toContain("add --forward-to <url>");
    expect(await said("--env", "{url}", "--", "true")).toContain(
      "--env takes a name and a value, such as PAY_URL={url}",
    );
    expect(await said("--url", "http://localhost:1", "--", "true")).toContain("--url goes with --attach");
    expect(await said("--", "no-such-program")).toContain('Command not found: "no-such-program"');
  });
});

describe("dev on a terminal", () => {
  test("shows the app's output in a pane; Ctrl-R restarts a killed app, and q ends dev and the app", async () => {
    const { words, variables } = await app();
    const terminal = openProgram(words, { variables });
    const pid = pidIn(await terminal.shows(/App[\s\S]*booking\.declined verified/));
    process.kill(pid, "SIGKILL");
    await terminal.shows("exited with 137");
    terminal.type("\x12");
    const again = await terminal.shows((text) => text.split("app ").length > 2 && text.includes("process "));
    const next = Number(/process (\d+)/.exec(again)?.[1]);
    expect(next).not.toBe(pid);
    terminal.type("q");
    await terminal.shows((text) => text.includes("Stop the sandbox") || text.includes("merchant-sandbox was at"));
    terminal.type("y");
    expect([(await terminal.ended).code, isAlive(next)]).toEqual([0, false]);
  });

  test("shows that webhooks wait for an app that does not listen; Ctrl-C ends dev and the app", async () => {
    const { words, variables } = await app({ LISTENS: "no" });
    const terminal = openProgram(words, { variables });
    const pid = pidIn(await terminal.shows(/app \d+/));
    await terminal.shows("webhooks wait for it");
    terminal.type("\x03");
    expect([(await terminal.ended).code, isAlive(pid)]).toEqual([6, false]);
  });
});

test("the control API holds deliveries until the endpoint's server listens, or a given time has passed", async () => {
  const port = await freePort();
  const bench = await open({ endpoints: [{ url: `http://127.0.0.1:${port}/` }] });
  const id = (await bench.endpoints.list()).data[0]?.id ?? "";
  expect(await bench.endpoints.await({ id, within: "1ms" })).toEqual({ endpoint: id, accepts: false });
  const waiting = bench.endpoints.await({ id });
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
  expect(await bench.drain({ within: "1s" })).toEqual({ settled: true, pending: 1, inFlight: 0 });
  const server = createServer((_, response) => response.end()).listen(port, "127.0.0.1");
  expect(await waiting).toEqual({ endpoint: id, accepts: true });
  expect(await bench.drain({ within: "5s" })).toMatchObject({ settled: true, pending: 0 });
  expect((await bench.control("GET", "/deliveries")).data.map(({ status }: { status: string }) => status)).toEqual([
    "succeeded",
  ]);
  server.close();
});
