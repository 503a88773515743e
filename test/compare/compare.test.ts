// A recording of the service is compared with the facts of the sandbox: the differences are found among the others, and nothing else.

import { describe, expect, test } from "vitest";
import { compare } from "../../src/compare/compare.ts";
import { readHar, readWebhooks } from "../../src/compare/read-recording.ts";
import { findingsOf } from "../../src/compare/text.ts";
import { serviceFileOf } from "../../src/compare/write-service.ts";
import { comparedSandbox } from "../../src/sandbox/documents.ts";
import type { Behaviour } from "../support/real-service/behaviour.ts";
import { differences } from "../support/real-service/differences.ts";
import { createRealService } from "../support/real-service/service.ts";
import { recordSession } from "../support/real-service/session.ts";

const sandbox = comparedSandbox();

function compareService(change: (behaviour: Behaviour) => void = () => {}) {
  const { har, webhooks } = recordSession(createRealService(change));
  const recording = readHar(JSON.stringify(har), "service.har");
  return compare(sandbox, { ...recording, deliveries: readWebhooks(`${webhooks.join("\n")}\n`, "received.jsonl") });
}

/** The ids of the contradicted facts. */
const contradictedIn = ({ verdicts }: ReturnType<typeof compare>) =>
  verdicts.filter(({ verdict }) => verdict === "contradicted" || verdict === "against_document").map(({ fact }) => fact.id);

const all = (to: Behaviour) => {
  for (const { change } of differences) change(to);
};

describe("a stand-in for the real service", () => {
  test("that behaves as the sandbox contradicts nothing", () => {
    const found = compareService();
    expect(found.verdicts.filter(({ verdict }) => /contra|against/.test(verdict)).map(({ fact, seen }) => [fact.id, seen])).toEqual([]);
    expect(findingsOf(found)).toEqual([]);
    expect(serviceFileOf(sandbox.facts, found.evidence, { atLeast: 1, refusedIn: () => undefined })).toEqual({ facts: {} });
    expect(found.base).toBe("https://api.service.example/v1");
  });

  /** Each is undone by another one that is listed after it, or cannot be seen beside one. */
  const HIDDEN = [
    ...["a customer is wrapped in data", "windows of an hour", "no Retry-After"],
    ...["a replay is not marked", "events have no merchant", "the signature has another key", "the first retry comes after ten seconds"],
  ];

  test("finds all differences together that leave a trace together", () => {
    const found = contradictedIn(compareService(all));
    const hidden = differences.filter(({ contradicts }) => !contradicts.some((id) => found.includes(id))).map(({ name }) => name);
    expect(hidden).toEqual(HIDDEN);
  });

  test("masks a key in the path of the base address", () => {
    const { har } = recordSession(createRealService(() => {}));
    const text = JSON.stringify(har).replaceAll("api.service.example/v1", "gateway.example/sk_live_51HqSecret0123456789/v1");
    expect(compare(sandbox, readHar(text, "service.har")).base).toMatch(/^https:\/\/gateway\.example\/(?!.*51HqSecret).*\/v1$/);
  });

  test("shows no secret, no name and no address in the result", () => {
    const text = JSON.stringify(compareService(all));
    expect(text).not.toMatch(/sk_live_\w{6}|whsec_\w{6}|secret_\w{6}|Ana|Sousa|mail\.example|hooks\.shop|R3al|cus_real|900 000/);
  });
});
