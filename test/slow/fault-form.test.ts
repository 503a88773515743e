// In the form that arms a fault, each field of each action can be entered. Any keys lead to a rule or to an error that
// names its reason.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonSchema } from "../../ui/connection/json-schema.ts";
import type { FormField } from "../../ui/panes/overlays/field.ts";
import { focusField, topFormView } from "../../ui/panes/overlays/form.ts";
import { topOverlay } from "../../ui/state/updates.ts";
import { sanitize } from "../../ui/text/cells.ts";
import { openTestDashboard, type TestDashboard, typing } from "../support/dashboard.ts";
import { inputs } from "../support/fuzzing.ts";
import { type Bench, share } from "../support/sandbox.ts";

describe("every field of every action", () => {
  let bench: Bench;
  let dashboard: TestDashboard;
  let rules: readonly JsonSchema[];

  beforeAll(async () => {
    bench = await share();
    dashboard = await openTestDashboard(bench.url, 80, 24);
    rules = (await bench.control("GET", "/faults/schema.json")).oneOf;
  });
  afterAll(() => bench.close());

  /** Opens the form, and selects an action. */
  async function on(type: string): Promise<void> {
    dashboard.state = { ...dashboard.state, overlays: [] };
    dashboard.press("x");
    await dashboard.settle();
    const wanted: Record<string, string> = { rate_limit: "429", status: "503", latency: "slow" };
    dashboard.press(...typing(wanted[type] ?? type));
  }

  /** Presses Enter. Either the rule is armed, or the form stays open and shows the reason. */
  async function entered(): Promise<"armed" | "refused"> {
    dashboard.press("enter");
    await dashboard.settle();
    if (!topOverlay(dashboard.state)) {
      expect(dashboard.state.notice).toMatchObject({ style: "green" });
      return "armed";
    }
    expect(dashboard.state.notice?.style).toBe("failure");
    // The last two lines of the screen are not part of the form.
    const shown = dashboard.screen().slice(0, -2).join("\n");
    expect(shown).toContain("Arm a fault");
    const why = dashboard.state.notice?.text ?? "";
    expect([why, why.replace(/^\S+ /, "")].some((words) => shown.includes(sanitize(words).slice(0, 25)))).toBe(true);
    return "refused";
  }

  const SPECIAL: Record<string, [string, unknown]> = {
    id: ["flt_mine", "flt_mine"],
    expect: ["idempotency.*", ["idempotency.*"]],
    "match.operation": ["payments.list,payouts.list", ["payments.list", "payouts.list"]],
    "match.event": ["payment.*", "payment.*"],
    "match.key": ["sk_test_market", "sk_test_market"],
    "match.merchant": ["mer_market", "mer_market"],
    "match.header": ['{"Idempotency-Key": {"present": true}}', { "Idempotency-Key": { present: true } }],
    "match.body": ['{"/amount": 1}', { "/amount": 1 }],
    "match.attempt": ['{"gte": 2}', { gte: 2 }],
    "action.retryAfter": ['{"form": "http_date", "seconds": 2}', { form: "http_date", seconds: 2 }],
    "action.until": ["before_response", "before_response"],
    "action.attempts": ["all", "all"],
    "action.patch": ['{"/data/amount": 777}', { "/data/amount": 777 }],
    "action.by": ["3m", "3m"],
  };

  function sample(path: string, shape: JsonSchema): [text: string, value: unknown] {
    const special = SPECIAL[path];
    if (special) return special;
    if (shape.enum) return [String(shape.enum[0]), shape.enum[0]];
    const type = [shape.type].flat()[0];
    if (type === "boolean") return ["true", true];
    if (type === "integer" || type === "number") return [String(shape.maximum), shape.maximum];
    return shape.pattern ? ["7s", "7s"] : ["some text", "some text"];
  }

  const fieldsOf = (rule: JsonSchema): [string, JsonSchema][] =>
    Object.entries(rule.properties ?? {}).flatMap(([name, shape]) =>
      ["action", "match", "trigger"].includes(name)
        ? Object.entries(shape.properties ?? {})
            .filter(([inner]) => inner !== "type")
            .map(([inner, of]): [string, JsonSchema] => [`${name}.${inner}`, of])
        : [[name, shape] as [string, JsonSchema]],
    );

  /** Replaces the text of a field. */
  function enter(path: string, text: string): void {
    const field = topFormView(dashboard.state).fields.find(({ name }) => name === path);
    expect(field?.name).toBe(path);
    dashboard.state = focusField(dashboard.state, field as FormField).state;
    dashboard.press("ctrl-u", ...typing(text));
  }

  test("can be entered, and is sent in the call", async () => {
    const outcomes = { armed: 0, refused: 0 };
    const met = new Set<string>();
    for (const rule of rules) {
      await on(String(rule.title));
      const [start] = topFormView(dashboard.state).fields;
      // Shows the rare fields, and moves to the first of them.
      dashboard.press("ctrl-o");
      const opened = focusField(dashboard.state, start as FormField).state;
      dashboard.state = opened;
      for (const { name } of topFormView(opened).fields) {
        expect(topFormView(dashboard.state).focused?.name).toBe(name);
        dashboard.press("tab");
      }
      for (const [path, shape] of fieldsOf(rule)) {
        // The actions of a target share fields. A shared field is entered for each action only if FUZZ_RUNS is set,
        // and its rule is armed once.
        const alike = path.startsWith("action.") ? `${rule.title} ${path}` : `${rule.properties?.target?.enum} ${path}`;
        const isMet = met.has(alike);
        if (isMet && process.env.FUZZ_RUNS === undefined) continue;
        dashboard.state = opened;
        const [text, value] = sample(path, shape);
        const [other, wanted = ""] = shape["x-only-with"] ?? [];
        if (other !== undefined) enter(`action.${other}`, wanted);
        enter(path, text);
        dashboard.press("ctrl-y");
        await dashboard.settle();
        const body = JSON.parse(
          (/ --data-raw '(.*)'$/s.exec(dashboard.copied.at(-1) ?? "")?.[1] ?? "{}").replaceAll("'\\''", "'"),
        );
        const [outer = "", inner] = path.split(".");
        expect([path, inner === undefined ? body[outer] : body[outer]?.[inner]]).toEqual([path, value]);
        expect(body.action.type).toBe(rule.title);
        if (isMet) continue;
        met.add(alike);
        outcomes[await entered()]++;
      }
      await bench.control("DELETE", "/faults");
    }
    expect(outcomes.armed).toBeGreaterThan(60);
    expect(outcomes.armed + outcomes.refused).toBe(met.size);
  });

  test("is accepted or shown as invalid, with any input", async () => {
    const texts = ["5s", "null", "true", '{"a":1}', "payments.list", "flt_x", "99999999999999999999", "[1,2]"];
    const key = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.constantFrom(
          "tab",
          "down",
          "up",
          "left",
          "right",
          "backspace",
          "delete",
          "home",
          "end",
          "ctrl-u",
          "space",
          "pagedown",
        ),
      },
      { weight: 2, arbitrary: fc.constantFrom(..."0123456789.,-{}\"'/mshdtrueflp*_".split("")) },
      {
        weight: 1,
        arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }).filter((text) => [...text].length === 1),
      },
      { weight: 5, arbitrary: fc.constantFrom(...texts) },
    );
    const outcomes = { armed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.array(key, { maxLength: 40 }), async (which, keys) => {
        await on(String(rules[which % rules.length]?.title));
        for (const one of keys) {
          dashboard.press(...(texts.includes(one) ? typing(one) : [one]));
        }
        outcomes[await entered()]++;
        await bench.control("DELETE", "/faults");
      }),
      { numRuns: inputs(30) },
    );
    expect(Math.min(outcomes.armed, outcomes.refused)).toBeGreaterThan(5);
  });
});
