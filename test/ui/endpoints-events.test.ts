// The panes of endpoints and events, and the places that the palette finds.

import { describe, expect, test } from "vitest";
import { openTestDashboard, type TestDashboard, typing } from "../support/dashboard.ts";
import { openRegistered, settle, trigger } from "../support/webhooks.ts";

const textOf = (desk: TestDashboard) => desk.screen(140, 60).join("\n");

async function triggered() {
  const opened = await openRegistered();
  await trigger(opened.bench, "payment.succeeded");
  await settle(opened.bench);
  const desk = await openTestDashboard(opened.bench.url, 140, 60);
  return { ...opened, desk };
}

describe("endpoints", () => {
  test("show where events go, the last result and the end of the secret", async () => {
    const { desk, receiver } = await triggered();
    await desk.run("9");
    expect(textOf(desk)).toContain(receiver.url);
    expect(textOf(desk)).toMatch(/✓ healthy 200 .* lodge +…\w{4}/);
    await desk.run("enter");
    expect(textOf(desk)).toMatch(/✓ healthy 200[\s\S]*url +http[\s\S]*24 hours +\d+ succeeded, 0 failed/);
  });

  test("are sent a test, and get a new secret, which is copied", async () => {
    const { bench, desk } = await triggered();
    await desk.run("9", "i");
    expect(desk.state.notice?.text).toMatch(/^Sent a test \S+ to the endpoints of mer_lodge$/);
    await desk.run("K");
    const { data } = await bench.control("GET", "/endpoints");
    expect(desk.copied).toEqual([data[0].secret]);
  });

  test("are removed once that is confirmed", async () => {
    const { bench, desk } = await triggered();
    await desk.run("9", "d");
    expect((await bench.control("GET", "/endpoints")).data).toHaveLength(1);
    await desk.run("y");
    expect((await bench.control("GET", "/endpoints")).data).toEqual([]);
  });
});

describe("events", () => {
  test("show what became of their deliveries, lead to them, and are replayed", async () => {
    const { desk } = await triggered();
    await desk.run("0");
    expect(textOf(desk)).toMatch(/payment\.succeeded +✓1 /);
    await desk.run("enter");
    expect(textOf(desk)).toMatch(/Deliveries[\s\S]*1\/6 +200[\s\S]*Body[\s\S]*"type": "payment\.succeeded"/);
    await desk.run("r");
    expect(desk.state.notice?.text).toMatch(/^Replayed payment\.succeeded to 1 endpoint/);
  });
});

describe("the palette", () => {
  test("goes to a row by its id, and to the rows of an event type, an operation, a path or a record", async () => {
    const { bench, desk } = await triggered();
    await bench.call("GET", "/v1/payments?limit=1");
    const goTo = async (search: string) => {
      await desk.run(":", ...typing(search), "enter");
      const { pane, overlays, lists } = desk.state;
      const found = [pane, lists[pane]?.filter, overlays.at(-1)?.title];
      await desk.run("escape", "escape", "1");
      return found;
    };
    const [{ id }] = (await bench.control("GET", "/requests")).data;
    const [event] = (await bench.control("GET", "/events")).data;
    expect(await goTo(id)).toEqual(["requests", "", "GET /v1/payments"]);
    expect(await goTo(event.id)).toEqual(["events", "", `payment.succeeded ${event.id}`]);
    expect(await goTo("payment.succeeded")).toEqual(["deliveries", "event:payment.succeeded", undefined]);
    expect(await goTo("payments.list")).toEqual(["requests", "operation:payments.list", undefined]);
    expect(await goTo("/v1/pay")).toEqual(["requests", "path:/v1/pay", undefined]);
    expect(await goTo("pay_pending")).toEqual(["requests", "pay_pending", undefined]);
  });
});
