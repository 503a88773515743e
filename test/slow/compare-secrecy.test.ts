// No output of `compare` shows secrets or personal data, whatever part of a recording contains them.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCommand, temporaryFile } from "../support/program.ts";
import { everyDifference } from "../support/real-service/comparison.ts";
import { createRealService } from "../support/real-service/service.ts";
import { recordSession } from "../support/real-service/session.ts";
import type { HarEntry } from "../support/real-service/tool-forms.ts";

const SECRET = {
  ...{
    key: "sk_live_51PlantedKey",
    bearer: "plantedBearerToken",
    cookie: "plantedCookie",
    password: "plantedpassword",
  },
  ...{
    iban: "PT50000201231234567890154",
    name: "Marisa Quintela",
    email: "marisa@post.example",
    phone: "+351912345678",
  },
  ...{ street: "Camelias", city: "Aveiro", description: "honeymoon" },
};
const LEAKS = /planted|PT5000|marisa|quintela|post\.example|912345678|camelias|aveiro|honeymoon/i;

type Fields = Record<string, unknown>;

const PERSON: Fields = {
  ...{ name: SECRET.name, email: SECRET.email, phone: SECRET.phone, iban: SECRET.iban, password: SECRET.password },
  ...{
    address: { line1: SECRET.street, city: SECRET.city },
    description: SECRET.description,
    apiKey: SECRET.key,
    token: SECRET.bearer,
  },
};

/** Changes the fields of a body. */
function changeBody(holder: { text?: string | undefined } | undefined, change: (body: Fields) => Fields): void {
  if (holder?.text?.startsWith("{")) holder.text = JSON.stringify(change(JSON.parse(holder.text)));
}

const entriesAt = (entries: readonly HarEntry[], path: RegExp) =>
  entries.filter(({ request }) => path.test(request.url));

/**
 * Changes by name. Each puts personal or secret text into a part of a recording, and `compare` prints the values of
 * that part.
 */
const places: Record<string, (entries: HarEntry[]) => void> = {
  "headers and cookies": (entries) => {
    for (const { request, response } of entries) {
      request.headers.push({ name: "cookie", value: SECRET.cookie }, { name: "x-api-key", value: SECRET.key });
      response.headers.push(
        { name: "set-cookie", value: `s=${SECRET.cookie}` },
        { name: "ratelimit-limit", value: SECRET.phone },
      );
      request.cookies = response.cookies = [{ name: "s", value: SECRET.cookie }];
    }
  },
  "names and values of the query": (entries) => {
    for (const { request } of entriesAt(entries, /payments/)) {
      const separator = request.url.includes("?") ? "&" : "?";
      request.url += `${separator}marisa=1&quintela=2&email=${SECRET.email}&token=${SECRET.bearer}`;
    }
  },
  "paths of unknown endpoints": (entries) => {
    const [first] = entriesAt(entries, /customers/) as [HarEntry];
    const paths = [
      "guests/marisa",
      "guests/someone/quintela",
      `reset/${SECRET.password}`,
      `keys/${SECRET.key}`,
      `mail/${SECRET.email}`,
      "city/aveiro",
    ];
    for (const path of paths)
      entries.push({ ...first, request: { ...first.request, url: `https://api.service.example/v1/${path}` } });
  },
  "the base address": (entries) => {
    for (const { request } of entries) request.url = request.url.replace("/v1/", `/${SECRET.key}/quintela/v1/`);
  },
  "codes, categories, messages and details of errors": (entries) => {
    const codes = ["Quintela", "marisa", SECRET.password, SECRET.key, SECRET.bearer, SECRET.city];
    for (const [index, { response }] of entries.filter((entry) => entry.response.status >= 400).entries())
      changeBody(response.content, (body) => ({
        ...body,
        ...{
          code: codes[index % codes.length],
          error: codes[(index + 1) % codes.length],
          message: `No ${SECRET.name}.`,
        },
        details: {
          ...PERSON,
          [SECRET.email]: 1,
          marisa: SECRET.phone,
          field: SECRET.city,
          errors: [{ field: "quintela" }, { name: "Aveiro" }],
        },
      }));
  },
  "enum values, ids and types of fields": (entries) => {
    for (const { response } of entriesAt(entries, /payments|payouts|pricing|bookings/))
      changeBody(response.content, (body) => {
        const items = Array.isArray(body.data) ? (body.data as Fields[]) : [body];
        for (const item of items)
          Object.assign(item, {
            status: "Quintela",
            id: "marisa_1985",
            merchantId: "quintela-1985",
            currency: SECRET.iban,
          });
        return body;
      });
  },
  "new fields and their names": (entries) => {
    for (const { response } of entriesAt(entries, /customers/))
      changeBody(response.content, (body) => ({
        ...body,
        ...{
          marisa: "x",
          [SECRET.email]: 1,
          [SECRET.iban]: 2,
          owner: "marisa",
          place: "aveiro",
          ref: "quintela_77",
          tag: SECRET.password,
          memo: SECRET.bearer,
        },
      }));
  },
  "fields that wrap records": (entries) => {
    for (const { response } of entriesAt(entries, /customers/))
      changeBody(response.content, (body) => ({ quintela: body }));
    for (const { response } of entriesAt(entries, /payouts/))
      changeBody(response.content, ({ data, ...rest }) => ({ ...rest, marisa: data }));
  },
  "bodies of requests": (entries) => {
    for (const { request } of entriesAt(entries, /pricing/))
      changeBody(request.postData, (body) => ({ ...body, ...PERSON, marisa: 1, adjustmentType: "Aveiro" }));
  },
};

/** Writes the changed recording to a folder with a secret name, and returns the arguments of `compare`. */
function plant(change: (entries: HarEntry[]) => void, changeEvent: (event: Fields) => Fields) {
  const { har, webhooks } = recordSession(createRealService(everyDifference));
  const { entries } = (structuredClone(har) as { log: { entries: HarEntry[] } }).log;
  for (const { response } of entriesAt(entries, /customers\/cus_real/))
    changeBody(response.content, (body) => ({ ...body, ...PERSON }));
  change(entries);
  for (const entry of entries) entry.comment = `${SECRET.name} ${SECRET.key}`;
  const log = {
    version: "1.2",
    creator: { name: SECRET.name, version: SECRET.key },
    comment: SECRET.email,
    pages: [{ id: "p", title: SECRET.name }],
    entries,
  };
  const folder = join(dirname(temporaryFile("", "x")), `${SECRET.name} ${SECRET.key}`);
  mkdirSync(folder);
  const [recording, received] = [join(folder, "service.har"), join(folder, "received.jsonl")];
  const lines = webhooks.map((line) => {
    const delivery = JSON.parse(line) as { body: string; headers: Fields; url: string };
    Object.assign(delivery.headers, { cookie: SECRET.cookie, authorization: `Bearer ${SECRET.bearer}` });
    return JSON.stringify({
      ...delivery,
      url: `https://hooks.example/${SECRET.key}`,
      body: JSON.stringify(changeEvent(JSON.parse(delivery.body))),
    });
  });
  writeFileSync(recording, JSON.stringify({ log }));
  writeFileSync(received, lines.join("\n"));
  return [recording, "--webhooks", received];
}

async function outputsOf(words: readonly string[]): Promise<Record<string, string>> {
  const text = await runCommand(undefined, "compare", ...words);
  const json = await runCommand(undefined, "compare", ...words, "--json");
  expect([text.code, json.code]).toEqual([3, 3]);
  return { text: text.out.join("\n"), json: json.out.join("\n") };
}

/** Fails with the text around the first leak of each output. */
function expectNoLeak(outputs: Record<string, string>): void {
  const found = Object.entries(outputs).map(([name, text]) => [name, text.search(LEAKS), text] as const);
  const leaks = found.filter(([, at]) => at !== -1);
  expect(leaks.map(([name, at, text]) => [name, text.slice(Math.max(0, at - 80), at + 60)])).toEqual([]);
}

const unchanged = (event: Fields) => event;

describe("compare shows nothing secret or personal", () => {
  // Changes all parts together that do not hide one another, because one comparison with many changes takes no longer.
  const alone = ["new fields and their names", "fields that wrap records"];
  const together = Object.keys(places).filter((name) => !alone.includes(name));

  test.each([together, ...alone.map((name) => [name])].map((names) => [names]))(
    "if it is in the parts %j",
    async (names) => {
      const change = (entries: HarEntry[]) => {
        for (const name of names) places[name]?.(entries);
      };
      expectNoLeak(await outputsOf(plant(change, unchanged)));
    },
  );

  test("if it is in webhooks", async () => {
    const types = ["marisa.created", "Quintela", SECRET.password, SECRET.key];
    let count = 0;
    const change = (event: Fields): Fields => ({
      ...event,
      type: types[count++ % types.length],
      marisa: 1,
      data: { ...(event.data as Fields), ...PERSON, status: "aveiro", quintela: SECRET.email },
    });
    expectNoLeak(await outputsOf(plant(() => {}, change)));
  });
});
