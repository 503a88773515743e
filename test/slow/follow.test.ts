// `--follow` prints the existing rows of a list, and then each new row.

import { expect, test } from "vitest";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { launch, start } from "../support/program.ts";
import { type Bench, call, control, open } from "../support/sandbox.ts";
import { deliver, receive, register } from "../support/webhooks.ts";

/** A genuine event that an endpoint's receiver rejected. */
interface Rejected {
  endpoint: string;
  event: string;
}

/** For each list, the row that appears after a rejected event. */
const NEW_ROW: Record<string, (rejected: Rejected) => RegExp> = {
  requests: () => / POST \/v1\/webhook-events\/test /,
  events: ({ event }) => new RegExp(` event payment\\.succeeded ${event} `),
  deliveries: ({ event }) => new RegExp(` delivery of payment\\.succeeded ${event} .* 401 `),
  verdicts: () => / verdict fail webhook\.genuine_taken mer_lodge vdt_\d+ /,
  endpoints: ({ endpoint }) => new RegExp(`^${endpoint} mer_lodge `),
};

/** Registers an endpoint whose receiver rejects every event, and delivers an event. */
async function deliverToRejecting(bench: Bench): Promise<Rejected> {
  const receiver = await receive();
  receiver.always(401);
  const { id } = await register(bench, receiver.url);
  return { endpoint: id, event: await deliver(bench) };
}

test("each list with --follow prints its rows, then each new row, and never the same line twice", async () => {
  const bench = await open();
  const commands = Object.entries(await everyCommand());
  const names = commands.filter(([, command]) => "follow" in command.flagsFor([])).map(([name]) => name);
  expect(names).toEqual(Object.keys(NEW_ROW));
  const before = await deliverToRejecting(bench);
  const programs = names.map((name) => ({
    name,
    ...launch([name, "--follow"], { MERCHANT_SANDBOX_URL: bench.url }),
  }));
  for (const { name, line } of programs) await line((text) => NEW_ROW[name]?.(before).test(text) ?? false);
  const shown = programs.map(({ out }) => out.length);
  const after = await deliverToRejecting(bench);
  for (const [index, { name, line, out, child, ended }] of programs.entries()) {
    // Skips the rows that were there before.
    await line((text) => out.indexOf(text) >= (shown[index] ?? 0) && (NEW_ROW[name]?.(after).test(text) ?? false));
    child.kill("SIGTERM");
    await ended;
    expect(new Set(out).size, name).toBe(out.length);
  }
});

test("requests --follow prints the newest requests, then each new one, even if a reset makes ids repeat", async () => {
  const bench = await open();
  const words = ["requests", "--follow", "--status", "404"];
  await bench.call("GET", "/v1/payments/pay_one");
  const { child, ended, line } = launch(words, { MERCHANT_SANDBOX_URL: bench.url });
  await line((text) => text.includes("pay_one 404"));
  await bench.control("POST", "/reset", {});
  await bench.call("GET", "/v1/payments");
  for (let count = 0; count < 150; count++) await bench.call("GET", `/v1/payments/pay_${count}`);
  await line((text) => text.includes("pay_149 404"));
  child.kill("SIGTERM");
  const { out } = await ended;
  const numbers = Array.from({ length: 150 }, (_, count) => `pay_${count}`);
  expect(out.map((text) => /\/(pay\w+) 404/.exec(text)?.[1])).toEqual(["pay_one", ...numbers]);
});

test("a sandbox logs verdicts on repeated events, and the list and --follow show the same verdicts", async () => {
  const { url, line } = await start(["--memory"]);
  const receiver = await receive();
  const acted = new Set<string>();
  // This receiver acts on each copy of payment.succeeded, and once on any other event.
  receiver.always(({ event: { id, type } }, outgoing) => {
    const body = { name: type, adjustmentType: "fixed", adjustmentValue: 5 };
    const headers = { "idempotency-key": `${id}-${crypto.randomUUID()}` };
    const isNew = type === "payment.succeeded" || !acted.has(id);
    acted.add(id);
    const act = async () => isNew && call(url, "POST", "/v1/hospitality/pricing-rules", { body, headers });
    void act().then(() => outgoing.writeHead(200).end());
  });
  const events = ["payment.succeeded", "payout.paid"];
  await call(url, "POST", "/v1/webhooks", { body: { url: receiver.url, events } });
  for (const [index, type] of events.entries()) {
    const { body } = await call(url, "POST", "/v1/webhook-events/test", { body: { type, data: {} } });
    await receiver.arrived(2 * index + 1);
    await control(url, "POST", "/drain", {});
    await control(url, "POST", `/events/${body.id}/replay`);
    await receiver.arrived(2 * index + 2);
    await control(url, "POST", "/drain", {});
  }
  const logged = (verdict: string) =>
    line(
      (text) =>
        text.startsWith('{"event":"verdict"') &&
        text.includes(`webhook.single_effect`) &&
        text.includes(`"verdict":"${verdict}"`),
    );
  const both = [await logged("fail"), await logged("pass")].map((text) => JSON.parse(text) as { id: string });
  const ids = both.map(({ id }) => id).sort();
  const { data } = await control(url, "GET", "/verdicts?rule=webhook.single_effect");
  expect(data.map(({ id }: { id: string }) => id).sort()).toEqual(ids);
  const following = launch(["verdicts", "--follow", "--rule", "webhook.single_effect"], { MERCHANT_SANDBOX_URL: url });
  for (const id of ids) await following.line((text) => text.includes(` ${id} `));
});
