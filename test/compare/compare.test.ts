// A recording of the service is compared with the facts of the sandbox: every difference is found, and nothing else.

import { describe, expect, test } from "vitest";
import { compare } from "../../src/compare/compare.ts";
import { conditionTexts } from "../../src/compare/conditions.ts";
import type { Recording } from "../../src/compare/recording.ts";
import { comparisonText } from "../../src/compare/text.ts";
import type { Behaviour } from "../support/real-service/behaviour.ts";
import { changeTo, contradictedIn, everyDifference, recordingOf, sandbox } from "../support/real-service/comparison.ts";
import { differences } from "../support/real-service/differences.ts";
import { open } from "../support/sandbox.ts";

describe("a stand-in for the real service", () => {
  test("that behaves like the sandbox contradicts nothing; differences by design are not compared", () => {
    const found = compare(sandbox, recordingOf());
    expect(found.verdicts.filter(({ seen }) => seen.length > 0).map(({ fact, seen }) => [fact.id, seen])).toEqual([]);
    expect(comparisonText(found)).toMatch(/^Compared .*\n\n\d+ confirmed .*, 0 contradicted/);
    expect(found.base).toBe("https://api.service.example/v1");
  });

  test.each(differences)("shows that $name, if that is the only difference", (difference) => {
    const found = contradictedIn(compare(sandbox, recordingOf(changeTo([difference]))));
    expect(found).toEqual(expect.arrayContaining([...difference.contradicts]));
  });

  /** Differences that a later difference in the list undoes, or that another difference hides. */
  const HIDDEN = [
    ...["a customer is wrapped in data", "windows last an hour", "Retry-After is missing", "Retry-After is always 45"],
    ...[
      "a replay is not marked",
      "a replay is marked by another header",
      "events have no merchant",
      "the signature has another key",
    ],
  ];

  test("shows all differences at once, except those that another difference hides", () => {
    const found = contradictedIn(compare(sandbox, recordingOf(everyDifference)));
    const hidden = differences
      .filter(({ contradicts }) => !contradicts.some((id) => found.includes(id)))
      .map(({ name }) => name);
    expect(hidden).toEqual(HIDDEN);
  });
});

test("the assumptions that would remove differences are returned as an option that a sandbox accepts", async () => {
  const recording = recordingOf((to) => {
    to.success["bookings.decline"] = 202;
    to.errors.validation_failed.status = 422;
    to.lists.payouts.maximum = 50;
    to.deliveries.schedule.splice(0, to.deliveries.schedule.length, 10, 20);
  });
  const { assumptions } = compare(sandbox, recording);
  expect(assumptions).toEqual({
    "bookings.decline.status": 202,
    "error.validation_failed.status": 422,
    "payouts.list.query.limit.maximum": 50,
    "retry.schedule": [10, 20],
  });
  const { facts } = await (await open({ assumptions: assumptions as never })).control("GET", "/assumptions");
  expect(facts.filter((fact: object) => "default" in fact)).toHaveLength(4);
});

type Exchange = Recording["exchanges"][number];

describe("what proves a difference, and what does not:", () => {
  const seenOf = (recording: Recording, id: string) =>
    compare(sandbox, recording)
      .verdicts.find(({ fact }) => fact.id === id)
      ?.seen.map(({ value }) => value);

  test("a second merchant with the same e-mail address shows the code of already_exists", () => {
    const recording = recordingOf();
    const login = recording.exchanges.find(
      ({ url, status }) => url.pathname.endsWith("/merchants/login") && status === 200,
    );
    const body = { name: "Lusíada", email: "bomdia@lusiada.example", country: "PT", currency: "EUR" };
    const create = {
      ...(login as Exchange),
      url: new URL("https://api.service.example/v1/merchants"),
      text: JSON.stringify(body),
      body,
    };
    recording.exchanges.push(
      { ...create, status: 200, response: undefined },
      {
        ...create,
        at: create.at + 1,
        status: 409,
        response: { error: "conflict", message: "Taken", code: "email_taken" },
      },
    );
    expect(seenOf(recording, "error.already_exists.code")).toEqual(["email_taken"]);
  });

  test("retries after 2 and 4 seconds do not confirm a schedule of 1 and 5 seconds", () => {
    const recording = recordingOf((to) => void to.deliveries.schedule.splice(0, 2, 2, 4));
    const [gaps] = (seenOf(recording, "retry.schedule") ?? []) as number[][];
    expect(gaps?.slice(0, 2)).toEqual([2, 4]);
  });

  test("a field that an RFC 9457 error names as missing is required", () => {
    const recording = recordingOf((to) => to.pricingRule.required.push("priority"), ["problem+json"]);
    expect(seenOf(recording, "pricing_rules.create.body.priority.required")).toEqual([true]);
  });

  test("a 414 for a path that is too long does not count as the error for an unknown id", () => {
    const recording = recordingOf();
    const unknown = recording.exchanges.find(({ method, status }) => method === "GET" && status === 404) as Exchange;
    const url = new URL(`${unknown.url.href}${"x".repeat(3_000)}`);
    const response = { error: "uri_too_long", message: "No.", code: "uri_too_long", details: { requestId: "req_1" } };
    recording.exchanges.push({ ...unknown, url, status: 414, response });
    const found = compare(sandbox, recording);
    expect(contradictedIn(found)).toEqual([]);
    expect(found.unexplained).toEqual([expect.objectContaining({ status: 414, code: "uri_too_long", count: 1 })]);
  });

  test("a 422 because of a record's state is unexplained, or the error of a repeated action, not of a body", () => {
    const refused = (code: string, change?: (to: Behaviour) => void) => {
      const recording = recordingOf(change);
      const decline = recording.exchanges.find(({ url }) => url.pathname.endsWith("bkg_one/decline")) as Exchange;
      const response = { error: "conflict", message: "No.", code, details: { requestId: "req_1" } };
      recording.exchanges.push({
        ...decline,
        url: new URL(decline.url.href.replace("one", "three")),
        at: Number.NaN,
        status: 422,
        response,
      });
      return compare(sandbox, recording);
    };
    const alone = refused("too_late");
    expect([contradictedIn(alone), alone.unexplained]).toEqual([
      [],
      [expect.objectContaining({ status: 422, code: "too_late", count: 1 })],
    ]);
    const repeated = refused("final", ({ errors }) =>
      Object.assign(errors.invalid_state, { status: 422, code: "final" }),
    );
    expect(repeated.verdicts.find(({ fact }) => fact.id === "error.invalid_state.code")?.seen).toMatchObject([
      { count: 2 },
    ]);
  });
});

test("each error that a service may have is recognised, or listed with the reason why it is not", () => {
  const { seen, unseen } = conditionTexts();
  const codes = sandbox.facts.flatMap(({ id, kind, origin }) =>
    kind === "error_code" && origin !== "design" ? [id.split(".")[1] as string] : [],
  );
  expect([...Object.keys(seen), ...Object.keys(unseen)].sort()).toEqual(codes.sort());
});
