// The panes of endpoints and events, the details of records, and what the palette finds.

import { describe, expect, test } from "vitest";
import { loggedAttempts, openTestDashboard, type TestDashboard, typing } from "../support/dashboard.ts";
import { withLiveEvents } from "../support/live-rows.ts";
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
    expect(textOf(desk)).toMatch(/✓ healthy 200 +all types .* lodge +…\w{4}/);
    await desk.run("enter");
    expect(textOf(desk)).toMatch(/✓ healthy 200[\s\S]*url +http[\s\S]*24 hours +\d+ succeeded, 0 failed/);
  });

  test("are sent a test event by i, and get a new secret by K, which is copied", async () => {
    const { bench, desk } = await triggered();
    await desk.run("9", "i");
    expect(desk.state.notice?.text).toMatch(/^Sent a test \S+ to the endpoints of mer_lodge$/);
    await desk.run("K");
    expect([desk.copied, textOf(desk)]).toEqual([[], expect.stringContaining("Rotate the secret of http")]);
    await desk.run("y");
    const { data } = await bench.control("GET", "/endpoints");
    expect(desk.copied).toEqual([data[0].secret]);
  });

  test("count the deliveries that were given up, even if a later one succeeded", async () => {
    const { bench, desk, receiver } = await triggered();
    receiver.always(500);
    await trigger(bench, "payment.succeeded");
    await bench.control("POST", "/clock/advance", { by: "3d" });
    await settle(bench);
    receiver.always(200);
    await trigger(bench, "payment.succeeded");
    await settle(bench);
    desk.state = withLiveEvents(desk.state, await loggedAttempts(bench));
    await desk.run("9");
    await desk.apply({ state: desk.state, effects: [{ kind: "refresh" }] });
    expect(textOf(desk)).toMatch(/✓ healthy 200, \d+ failed +all types/);
  });

  test("are removed after a confirmation", async () => {
    const { bench, desk } = await triggered();
    await desk.run("9", "d");
    expect((await bench.control("GET", "/endpoints")).data).toHaveLength(1);
    await desk.run("y");
    expect((await bench.control("GET", "/endpoints")).data).toEqual([]);
  });

  test("are disabled and enabled by z, after a question if pending deliveries would be cancelled", async () => {
    const { bench, desk, receiver } = await triggered();
    const status = async () => (await bench.control("GET", "/endpoints")).data[0].status;
    await desk.run("9", "z");
    expect([await status(), desk.state.notice?.text]).toEqual(["disabled", expect.stringMatching(/^Disabled http/)]);
    await desk.run("z");
    expect(await status()).toBe("enabled");
    receiver.always(500);
    await trigger(bench, "payment.succeeded");
    await settle(bench);
    await desk.apply({ state: desk.state, effects: [{ kind: "refresh" }] });
    await desk.run("z");
    expect(textOf(desk)).toContain("Then its pending delivery is cancelled.");
    expect(await status()).toBe("enabled");
    await desk.run("y");
    expect([await status(), (await bench.control("GET", "")).pendingDeliveries]).toEqual(["disabled", 0]);
    await desk.run("u");
    expect(await status()).toBe("enabled");
  });
});

describe("a record", () => {
  const goTo = (desk: TestDashboard, id: string) => desk.run(":", ...typing(id), "enter");

  test("is found by its id, and links to its requests and events and to the records that it refers to", async () => {
    const { bench, desk } = await triggered();
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
    await settle(bench);
    await goTo(desk, "bkg_pending");
    const text = textOf(desk);
    expect(text).toMatch(/✓ booking bkg_pending declined[\s\S]*› customerId +cus_zoe[\s\S]*Timeline, newest first/);
    expect(text).toMatch(/✓ delivery +attempt 1 of 6[\s\S]*event +booking\.declined[\s\S]*✓ request +POST \S+decline/);
    const opened = async (...keys: string[]) => {
      await desk.run(...keys, "enter");
      const title = desk.state.overlays.at(-1)?.title;
      await desk.run("escape");
      return title;
    };
    expect(await opened("j")).toBe("Record cus_zoe");
    expect(await opened("j")).toMatch(/^booking\.declined to http/);
    expect(await opened("j")).toMatch(/^booking\.declined evt_/);
    expect(await opened("j")).toMatch(/^POST .*decline$/);
  });

  test("is a link in the details of the requests and events that name it", async () => {
    const { bench, desk } = await triggered();
    await bench.call("GET", "/v1/customers/cus_ines");
    const [request] = (await bench.control("GET", "/requests")).data;
    await goTo(desk, request.id);
    expect(textOf(desk)).toMatch(/▸ record +cus_ines/);
    await bench.control("POST", "/events", { type: "payment.succeeded" });
    await desk.apply({ state: desk.state, effects: [{ kind: "refresh" }] });
    await desk.run("escape", "0", "g", "enter");
    expect(textOf(desk)).toMatch(/caused by +the control API[\s\S]*› record +pay_/);
  });

  test("whose id several merchants use is shown for the followed merchant, and names the other merchants", async () => {
    const { bench, desk } = await triggered();
    const { id: merchant } = await bench.control("POST", "/merchants", { fixture: "lodge" });
    await desk.apply({ state: desk.state, effects: [{ kind: "refresh" }] });
    await desk.run("7", "G", "m");
    await goTo(desk, "cus_ines");
    expect(textOf(desk)).toMatch(new RegExp(`merchant +${merchant}[\\s\\S]*also in +mer_lodge`));
  });

  test("that does not exist is reported in one sentence", async () => {
    const { desk } = await triggered();
    await expect(goTo(desk, "pay_gone")).rejects.toThrow("No merchant has a record pay_gone");
    expect(desk.state.overlays).toEqual([]);
  });
});

test("the palette finds all assumptions, or those of an operation, with their values and reasons", async () => {
  const { desk } = await triggered();
  await desk.run(":", ...typing("bookings.decline"), "down", "enter");
  expect(textOf(desk)).toMatch(/▸ \d+ assumptions? of bookings\.decline[\s\S]*bookings\.decline\.status: 200/);
  await desk.run("escape", ":", ...typing("assum"), "enter");
  expect(textOf(desk)).toMatch(/▸ [\d,]+ assumptions /);
  // No line ends with a backslash: these texts are prose, not commands that a shell continues on the next line.
  expect(textOf(desk)).not.toMatch(/\\\s*$/m);
});

test("an advance of the clock lists the changes that it made, each a link to its record", async () => {
  const { desk } = await triggered();
  await desk.run("c", "right", "right", "right", "down", ...typing("240h"), "enter");
  expect(textOf(desk)).toMatch(/payout po_pending +pending to in_transit +payout\.in_transit +mer_lodge/);
  await desk.run("/", ...typing("po_pending"), "enter", "enter");
  expect(desk.state.overlays.at(-1)?.title).toMatch(/^Record /);
});

describe("events", () => {
  test("show the results of their deliveries, and are replayed by r", async () => {
    const { desk } = await triggered();
    await desk.run("0");
    expect(textOf(desk)).toMatch(/payment\.succeeded +✓1 /);
    await desk.run("enter");
    expect(textOf(desk)).toMatch(/Deliveries[\s\S]*1\/6 +200[\s\S]*Body[\s\S]*"type": "payment\.succeeded"/);
    await desk.run("r");
    expect(desk.state.notice?.text).toMatch(/^Replayed payment\.succeeded to 1 endpoint/);
  });
});

test("the details of an event begin with the failed deliveries and their reason", async () => {
  const { bench, desk, receiver } = await triggered();
  receiver.always({ status: 500, body: "database is down" });
  await bench.control("POST", "/events", { type: "payment.succeeded" });
  await bench.control("POST", "/clock/advance", { by: "10m" });
  await desk.apply({ state: desk.state, effects: [{ kind: "refresh" }] });
  await desk.run("0", "g", "enter");
  expect(textOf(desk)).toContain("✗ 1 delivery failed: 500 database is down");
  expect(desk.screen().join("")).not.toMatch(/[›▸] caused by/);
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
    // In the pane of deliveries, the help of the replay key also contains "endpoint".
    await desk.run("2");
    expect(await goTo("endpoint")).toEqual(["endpoints", "", undefined]);
    expect(await goTo("payments.list")).toEqual(["requests", "operation:payments.list", undefined]);
    expect(await goTo("/v1/pay")).toEqual(["requests", "path:/v1/pay", undefined]);
    expect(await goTo("pay_pending")).toEqual(["requests", "", "Record pay_pending"]);
  });
});

test("J in the comparison of two attempts jumps to the request that caused their event", async () => {
  const { bench, desk, receiver } = await triggered();
  receiver.always(500);
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
  await bench.control("POST", "/clock/advance", { by: "1h" });
  await settle(bench);
  desk.state = withLiveEvents(desk.state, await loggedAttempts(bench));
  await desk.run("2", "/", ...typing("booking.declined"), "enter", "enter", "=");
  expect(desk.state.overlays.at(-1)?.title).toMatch(/^Compare whd_/);
  await desk.run("J");
  expect(desk.state.overlays.at(-1)?.title).toMatch(/decline/);
});
