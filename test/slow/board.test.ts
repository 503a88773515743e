// The board and the join page of a room: their security policy, forty participants at once, and both pages in a
// browser.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { browserFile, inBrowser, type Page } from "../support/browser.ts";
import { browserForBlock } from "../support/browser-for-block.ts";
import { type Answer, type Bench, call, open } from "../support/sandbox.ts";

/** Hostile names of learners; the pages must show them as text. */
const HOSTILE = [
  "<img src=x onerror=alert(1)>",
  "</script><script>alert(2)</script>",
  `"><svg/onload=alert(3)>`,
  "&lt;b&gt; &amp; {alert(4)}",
  "محمد",
  "W".repeat(60),
];
const NAMES = [...HOSTILE, ...Array.from({ length: 40 - HOSTILE.length }, (_, index) => `attendee ${index}`)];

interface Seated {
  name: string;
  id: string;
  apiKey: string;
  /** How many steps were completed. */
  completed: number;
}

/** A room that can be reached from elsewhere: the control API asks for a token, which the room does not. */
async function openRoom() {
  const bench = await open({ host: "0.0.0.0", allowedHost: ["127.0.0.1"] });
  const authorization = `Bearer ${bench.controlToken}`;
  const { body } = await call(bench.url, "POST", "/_sandbox/room", { key: null, headers: { authorization } });
  const path = new URL(body.url as string).pathname;
  return { bench, path, url: body.url as string, authorization };
}

const enter = (bench: Bench, path: string, name: string, headers: Record<string, string> = {}) =>
  call(bench.url, "POST", `${path}/join`, { key: null, body: { name }, headers });

const STEPS: ((bench: Bench, key: string) => Promise<Answer>)[] = [
  (bench, key) => bench.call("GET", "/v1/merchants/me", { key }),
  (bench, key) => bench.call("GET", "/v1/payments?limit=3", { key }),
  (bench, key) => bench.call("GET", "/v1/customers/cus_nobody", { key }),
];

/** All of them at once, each as many steps far as its number says. */
const fill = (bench: Bench, path: string, names = NAMES): Promise<Seated[]> =>
  Promise.all(
    names.map(async (name, index) => {
      const { apiKey, learner } = (await enter(bench, path, name)).body;
      let { id, version } = learner as { id: string; version: number };
      const completed = index % 4;
      for (const step of STEPS.slice(0, completed)) {
        const news = bench.call("GET", `/_sandbox/learners/${id}?after=${version}&within=1m`, { key: apiKey });
        await step(bench, apiKey);
        version = (await news).body.version;
      }
      return { name, id, apiKey, completed };
    }),
  );

const get = (bench: Bench, path: string) => bench.call("GET", path, { key: null });
const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const between = (text: string, tag: string) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(text)?.[1] ?? "";

test.each(["board", "join"])(
  "the page at …/%s is served with the room's code alone, without data, and runs its own script only",
  async (page) => {
    const { bench, path } = await openRoom();
    const before = await get(bench, `${path}/${page}`);
    const seated = await fill(bench, path, NAMES.slice(0, 8));
    const { status, headers, text } = await get(bench, `${path}/${page}`);
    expect([status, headers["content-type"], text]).toEqual([200, "text/html; charset=utf-8", before.text]);
    for (const { name, apiKey } of seated) for (const written of [name, apiKey]) expect(text).not.toContain(written);
    expect(text).not.toMatch(/https?:|\bsrc=|\bhref=|@import|url\(/);
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(String(headers["content-security-policy"]).split("; ")).toEqual([
      "default-src 'none'",
      `script-src ${hashOf(between(text, "script"))}`,
      `style-src ${hashOf(between(text, "style"))}`,
      "connect-src 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(between(text, "script")).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    const wrong = await get(bench, `/_sandbox/room/00000000/${page}`);
    expect([wrong.status, wrong.body.code]).toEqual([404, "resource_not_found"]);
    expect((await get(bench, `${path}/${page}?format=json`)).status).toBe(200);
    expect((await get(bench, `${path}/${page}?format=xml`)).status).toBe(400);
  },
);

describe("the board", () => {
  test("lists forty learners who joined at once with their steps, without keys", async () => {
    const { bench, path, url } = await openRoom();
    const seated = await fill(bench, path);
    await bench.call("POST", `/_sandbox/learners/${seated[1]?.id}/hint`, { key: seated[1]?.apiKey ?? "" });
    const { body, text } = await get(bench, `${path}/board?format=json`);
    expect(body).toMatchObject({ object: "list", url });
    const found = (body.data as { name: string; step: number; completed: number }[]).map((one) => [
      one.name,
      one.step,
      one.completed,
    ]);
    expect(found.sort()).toEqual(seated.map(({ name, completed }) => [name, completed + 1, completed]).sort());
    expect(body.data.find(({ name }: Seated) => name === NAMES[1])).toMatchObject({ hints: 1, hint: null });
    expect(text).not.toContain("sk_test_");
  });
});

test("a page of another origin cannot join a room, even with its address or by a form, and the join page can", async () => {
  const { bench, path } = await openRoom();
  for (const origin of ["http://evil.example", "null", "https://127.0.0.1:1", "file://"]) {
    const refused = await enter(bench, path, "Eve", { origin });
    expect([origin, refused.status, refused.body.code]).toEqual([origin, 403, "origin_not_allowed"]);
  }
  // A form needs no preflight.
  for (const contentType of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"]) {
    const refused = await bench.call("POST", `${path}/join`, { key: null, body: '{"name":"Eve"}', contentType });
    expect([contentType, refused.status]).toEqual([contentType, 415]);
  }
  expect((await get(bench, `${path}/board?format=json`)).body.data).toEqual([]);
  expect((await enter(bench, path, "Ada", { origin: bench.url })).status).toBe(200);
});

describe.runIf(browserFile)(inBrowser, () => {
  const browser = browserForBlock();

  interface Card {
    name: string;
    place: string;
    completed: number;
    word: string;
  }

  const cards = (page: Page) =>
    page.evaluate<Card[]>(`[...document.querySelectorAll("#learners > li")].map((card) => ({
      name: card.querySelector(".name").textContent,
      place: card.querySelector(".place").textContent,
      completed: card.querySelectorAll(".completed").length,
      word: card.querySelector(".chip")?.textContent ?? "",
    }))`);
  const shown = (count: number) => `document.querySelectorAll("#learners > li").length === ${count}`;

  test("the board shows forty learners with any names, and marks the one who has been on a step longest", async () => {
    const { bench, path, url } = await openRoom();
    const seated = await fill(bench, path);
    const page = await browser.open(`${url}/board`);
    await page.shows(shown(40));
    const found = await cards(page);
    const places = found.map(({ name, place, completed }) => [name, place, completed]);
    expect(places.sort()).toEqual(seated.map(({ name, completed }) => [name, `${completed + 1}/5`, completed]).sort());
    expect(found.filter(({ word }) => word !== "").map(({ word }) => word)).toEqual(["longest on a step"]);
    expect(await page.evaluate(`document.querySelectorAll("img, svg, li script").length`)).toBe(0);
    expect(await page.evaluate(`document.getElementById("counts").textContent`)).toBe("40 here");
    expect(await page.evaluate(`document.getElementById("address").textContent`)).toBe(`${url}/join`);
    // No name makes the page wider than its window.
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(page.complaints).toEqual([]);
  });

  test("the board updates itself, marks learners who are done, and reports a closed room", async () => {
    const { bench, path, url, authorization } = await openRoom();
    const page = await browser.open(`${url}/board`);
    await page.shows(`!document.getElementById("empty").hidden`);
    const { apiKey, learner } = (await enter(bench, path, "Ada")).body;
    await page.shows(shown(1));
    await bench.call("GET", "/v1/merchants/me", { key: apiKey });
    await page.shows(`document.querySelector(".fresh .chip")?.textContent === "just completed"`);
    expect(await cards(page)).toEqual([{ name: "Ada", place: "2/5", completed: 1, word: "just completed" }]);
    for (const _ of [2, 3, 4, 5]) await bench.call("POST", `/_sandbox/learners/${learner.id}/skip`, { key: apiKey });
    await page.shows(`document.querySelector(".done .chip")?.textContent === "done"`);
    expect(await page.evaluate(`document.getElementById("counts").textContent`)).toBe("1 here, 1 done");
    await bench.call("DELETE", "/_sandbox/room", { key: null, headers: { authorization } });
    await page.shows(`document.getElementById("error").textContent === "The room is closed."`);
  });

  test("the board shows its age when the sandbox stops responding", async () => {
    const { bench, path, url } = await openRoom();
    await enter(bench, path, "Ada");
    const page = await browser.open(`${url}/board`);
    await page.shows(shown(1));
    await bench.close();
    await page.shows(
      `/^The sandbox does not answer: what is shown is \\d+ s old\\.$/.test(document.getElementById("error").textContent)`,
    );
    expect(await cards(page)).toMatchObject([{ name: "Ada" }]);
  });

  const written = (name: string) =>
    `document.getElementById("name").value = ${JSON.stringify(name)}, document.querySelector("button").click()`;
  const text = (id: string) => `document.getElementById("${id}").textContent`;

  /** Waits until a condition holds, also in the page that the browser goes on to. */
  async function arrives(page: Page, condition: string): Promise<void> {
    for (let tries = 0; tries < 1_200; tries++) {
      if (await page.evaluate<boolean>(condition).catch(() => false)) return;
      // A navigation ends what was evaluated before it, so a condition cannot wait for it.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`Not seen: ${condition}`);
  }
  const seen = (selector: string) => `document.querySelector(${JSON.stringify(selector)})?.textContent`;
  const STEP = seen(".lesson h3");

  test.each(["Ada", HOSTILE[0] as string])(
    "the join page admits %s and opens the learner's page: the lesson with its commands, beside the learner's own requests",
    async (name) => {
      const { bench, path, url } = await openRoom();
      const other = (await enter(bench, path, "Mallory")).body;
      await bench.call("GET", "/v1/customers/cus_of_mallory", { key: other.apiKey });
      const page = await browser.open(`${url}/join`);
      await page.evaluate(written(name));
      await arrives(page, `${STEP} === "1. Ask who you are"`);
      const apiKey = await page.evaluate<string>(seen(".lesson dd code"));
      expect(apiKey).toMatch(/^sk_test_\w+$/);
      expect(await page.evaluate(seen(".lesson .note"))).toBe(name);
      expect(await page.evaluate(`document.querySelectorAll(".lesson dd code")[1].textContent`)).toBe(
        `${bench.url}/v1`,
      );
      expect(await page.evaluate(seen(".lesson .command pre"))).toBe(
        `curl -s ${bench.url}/v1/merchants/me -H "Authorization: Bearer ${apiKey}"`,
      );
      await bench.call("GET", "/v1/merchants/me", { key: apiKey });
      await page.shows(
        `[...document.querySelectorAll(".row")].some((row) => row.textContent.includes("/v1/merchants/me"))`,
      );
      await page.click(".lesson button", "next step");
      await page.shows(`${STEP} === "2. Read a list"`);
      await page.click(".lesson button", "hint");
      await page.shows(`${seen(".lesson-hint")}?.includes("The URL is quoted")`);
      await page.click(".row", "/v1/merchants/me");
      await page.shows(`${seen(".detail h2")} === "GET /v1/merchants/me"`);
      // A reload of the page continues at the same step.
      const again = await browser.open(await page.evaluate<string>("location.href"));
      await again.shows(`${STEP} === "2. Read a list"`);
      expect((await get(bench, `${path}/board?format=json`)).body.data).toHaveLength(2);
      const text =
        (await page.evaluate<string>("document.body.innerText")) +
        (await again.evaluate<string>("document.body.innerText"));
      for (const foreign of ["cus_of_mallory", "Mallory", other.apiKey, other.learner.id, "sk_test_lodge"])
        expect(text).not.toContain(foreign);
      expect([...page.complaints, ...again.complaints]).toEqual([]);
    },
  );

  test("the learner's page has no key that steers the sandbox, and says when the learner was removed", async () => {
    const { bench, path, authorization } = await openRoom();
    const { apiKey, learner } = (await enter(bench, path, "Ada")).body;
    const page = await browser.open(`${bench.url}/_sandbox/ui#learner/${apiKey}`);
    await page.shows(`${STEP} === "1. Ask who you are"`);
    expect(
      await page.evaluate(`[...document.querySelectorAll(".tab")].map((tab) => tab.textContent.slice(1))`),
    ).toEqual(["Requests", "Deliveries", "Verdicts"]);
    for (const key of ["x", "o", "c", "m", "X"]) await page.press(key);
    expect(await page.evaluate(`document.querySelector("dialog[open]")`)).toBeNull();
    await bench.call("DELETE", `/_sandbox/learners/${learner.id}`, { key: null, headers: { authorization } });
    await page.shows(`${seen(".connection")}?.includes("takes no sk_test_ key but that of a learner")`);
  });

  test("the join page explains a rejection and allows another attempt", async () => {
    const { bench, path, url } = await openRoom();
    await enter(bench, path, "Ada");
    const page = await browser.open(`${url}/join`);
    await page.evaluate(written("Ada"));
    await page.shows(`${text("error")}.includes("Choose another name")`);
    await page.evaluate(written("Ada too"));
    await arrives(page, `${STEP} === "1. Ask who you are"`);
  });
});
