// A frame with untrusted text (paths, headers, bodies, responses, names) contains no control characters except its own
// styles, and is exactly as wide as the screen.

import fc from "fast-check";
import stringWidth from "string-width";
import { afterAll, describe, expect, test } from "vitest";
import { applyConnection, applySandboxIndex } from "../../ui/panes/apply-message.ts";
import { panes } from "../../ui/panes/index.ts";
import { handleKey } from "../../ui/panes/keys/key-bindings.ts";
import type { UiState } from "../../ui/state/state.ts";
import { topOverlay, withNotice } from "../../ui/state/updates.ts";
import { createFrameRenderer } from "../../ui/terminal/frame.tsx";
import { cut, cutMiddle, fitTo, sanitize, widthOf, wrap } from "../../ui/text/cells.ts";
import { anyText, inputs } from "../support/fuzzing.ts";
import {
  attempt,
  emptyDashboard,
  INDEX,
  rateWindow,
  request,
  rule,
  verdict,
  withLiveEvents,
  withRulesAndWindows,
} from "../support/live-rows.ts";
import { attempted } from "../support/sandbox.ts";

const frames = createFrameRenderer();
afterAll(() => frames.close());

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches styles.
const TINT = /\x1b\[(?:[1-9]|[1-4]\d|97)m/g;
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * Expects that no line of the frame has control characters or is wider than the screen. Returns the lines without
 * styles.
 */
function expectContained(state: UiState): string[] {
  const { columns, rows } = state.size;
  const lines = frames.render(state).map((line) => line.replace(TINT, ""));
  expect(lines.filter((line) => FORBIDDEN.test(line))).toEqual([]);
  if (columns < 60 || rows < 15) return lines;
  expect(lines).toHaveLength(rows);
  expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
  return lines;
}

/** Also expects that each line with a border at its start is exactly as wide as the screen. */
function expectSound(state: UiState): void {
  const { columns, rows } = state.size;
  const lines = expectContained(state);
  if (columns < 60 || rows < 15) return;
  const framed = lines.filter((line) => /^[│┌└|+]/.test(line));
  expect(framed.length).toBeGreaterThanOrEqual(rows - 4);
  expect(framed.filter((line) => stringWidth(line) !== columns).map((line) => [stringWidth(line), line])).toEqual([]);
}

const NASTY = [
  "\x1b[2J\x1b[H",
  "\x1b]52;c;cm0gLXJm\x07",
  "\x1b]0;title\x1b\\",
  "\x9b31m",
  "\x90q\x9c",
  "\r\n",
  "\t\t",
  "\b\b\b",
  "\x00",
  "\u202e\u2066abc",
  "\u200b\u200d\ufeff",
  "\u2028\u2029",
  "\ud83d",
  "\udc00",
  "e\u0301".repeat(9),
  `a${"\u0300".repeat(40)}`,
  "日本語テキスト",
  "ｆｕｌｌ",
  "👩‍👩‍👧‍👦🏳️‍🌈",
  "🇩🇪🇫🇷🇯🇵",
  "1️⃣⚠️❤️",
  "👍🏽",
  "שלום עולם مرحبا",
  "हिन्दी क्षि",
  "각한글",
  "\u{e0041}\u{e007f}",
  "\ue000\u{f0000}",
  "\u0378",
  "ﷺ",
  "㍿",
  "\u115f\u1160\u3164",
  "\u0903",
  "\u0d4e",
  "🏽",
  "\uff9e",
  "\u0e33",
  "\u1161",
];

const hostile = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
      anyText({ maxLength: 30 }),
      fc.string({ maxLength: 60 }),
    ),
    {
      maxLength: 6,
    },
  )
  .map((parts) => parts.join(""));

const size = fc.constantFrom([120, 36], [80, 24], [60, 15], [110, 20], [133, 50], [61, 17], [220, 60]) as fc.Arbitrary<
  [number, number]
>;
const look = fc.record({ colours: fc.boolean(), unicode: fc.boolean() });

/** A screen full of untrusted text. */
function full(text: string, [columns, rows]: [number, number], shown: { colours: boolean; unicode: boolean }): UiState {
  const name = { id: `mer_${text}`, name: text, email: null, apiKeys: [`sk_${text}`] };
  const named = applySandboxIndex(emptyDashboard(columns, rows, shown), {
    ...INDEX,
    baseUrl: `http://h${text}/v1`,
    version: text,
    merchants: [name, ...INDEX.merchants],
  });
  const happened = withLiveEvents(named, [
    { kind: "request", request: request(1) },
    {
      kind: "request",
      request: request(2, {
        method: text,
        path: `/v1/${text}`,
        query: text,
        merchant: text,
        operation: text,
        fault: text,
      }),
    },
    { kind: "attempt", attempt: attempt(1, { url: `http://${text}`, eventType: text, eventId: text, merchant: text }) },
    { kind: "attempt", attempt: attempt(2, { url: text, errorCode: text, responseStatus: null, status: "failed" }) },
    {
      kind: "verdict",
      verdict: verdict(1, {
        rule: text,
        message: text,
        hint: text,
        merchant: text,
        fault: text,
        requests: [text],
        attempts: [text],
      }),
    },
  ]);
  return withRulesAndWindows(
    happened,
    [
      rule(1),
      rule(2, { id: text, name: text, match: { operation: text }, action: { type: text, as: text, note: text } }),
    ],
    [rateWindow({ merchant: text }), rateWindow({ operation: text })],
  );
}

describe("a frame", () => {
  test("is valid with any text in the rows of each pane, messages, filters and the connection state", () => {
    fc.assert(
      fc.property(hostile, size, look, (text, on, shown) => {
        attempted("Escape sequences in a terminal");
        const state = full(text, on, shown);
        for (const { name } of panes) expectSound({ ...state, pane: name });
        expectSound(withNotice(state, text));
        const list = { ...state.lists.requests, filter: text } as UiState["lists"][string];
        const filtered = { ...state, lists: { ...state.lists, requests: list } };
        expectSound(filtered);
        expectSound({ ...filtered, filterLine: { value: text, caretFromEnd: 1, isSelected: false } });
        expectSound(applyConnection(state, { phase: "reconnecting", retryInMs: 500, reason: text }));
        expectSound(applyConnection(state, { phase: "detached", reason: text }));
      }),
      { numRuns: inputs(4) },
    );
  });

  test("is valid while it shows a copied text without borders at its sides", () => {
    fc.assert(
      fc.property(hostile, size, look, (text, on, shown) => {
        const copied = press({ ...full(text, on, shown), lastCopy: text }, text, "!");
        expect(topOverlay(copied)?.isBare).toBe(true);
        expectContained(copied);
      }),
      { numRuns: inputs(4) },
    );
  });
});

/** Control API responses with untrusted text in every text field. */
function answerOf(path: string, text: string): unknown {
  const headers = {
    [text]: text,
    "x-a": text,
    "X-Webhook-Signature": text,
    "ratelimit-limit": text,
    "retry-after": text,
  };
  const message = {
    headers: { authorization: "…redacted…", ...headers, "RateLimit-Reset": text },
    body: text,
    bytes: text.length + 5,
  };
  const fields = {
    requestHeaders: headers,
    requestBody: text,
    responseBody: text,
    responseTruncated: true,
    errorMessage: text,
    trigger: text,
  };
  const fault = {
    id: text,
    name: text,
    effects: [{ id: text, action: text, effect: { kind: text, as: text } }],
    copy: 1,
  };
  const wouldHaveSent = { headers: { "x-a": `${text}!` }, body: JSON.stringify({ [text]: text }) };
  const tried = { ...attempt(9, { url: text, errorCode: text }), ...fields, fault: { ...fault, wouldHaveSent } };
  if (path.startsWith("/requests/"))
    return {
      ...request(3, { path: text, query: text, merchant: text }),
      id: text,
      key: text,
      request: message,
      response: message,
      events: [{ id: text, type: text }],
    };
  if (path.startsWith("/deliveries/"))
    return { attempt: tried, attempts: [tried, { ...tried, id: "whd_1" }], request: text };
  if (path.startsWith("/deliveries?")) return { data: [tried] };
  if (path.startsWith("/verdicts"))
    return { object: "list", data: [], rules: [{ id: text, demands: text, pass: 1, fail: 2, inconclusive: 3 }] };
  return { oneOf: [{ title: text, description: text }] };
}

/** Presses keys, and answers every call of the control API immediately. */
function press(state: UiState, text: string, ...keys: string[]): UiState {
  return keys.reduce((before, key) => {
    const { state: after, effects } = handleKey(before, key);
    let next = after;
    const queue = [...effects];
    for (let effect = queue.shift(); effect; effect = queue.shift()) {
      if (effect.kind !== "call" || effect.call.key !== undefined) continue;
      const step = effect.onReply(next, { status: 200, body: answerOf(effect.call.path, text) });
      next = step.state;
      queue.push(...step.effects);
    }
    return next;
  }, state);
}

describe("a detail", () => {
  test("is valid with any text, from its first line to its last", () => {
    fc.assert(
      fc.property(hostile, size, look, fc.constantFrom("1", "2", "3", "4", "5"), (text, on, shown, pane) => {
        attempted("Escape sequences in a terminal");
        const opened = press(full(text, on, shown), text, pane, "G", "enter");
        expect(topOverlay(opened)).toBeDefined();
        for (const keys of [[], ["pagedown"], ["G"], ["y"], ["!"], ["?"]]) expectSound(press(opened, text, ...keys));
      }),
      { numRuns: inputs(5) },
    );
  });

  test("shows why it could not be loaded, without control characters", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { state, effects } = handleKey(
          { ...full("x", [80, 24], { colours: true, unicode: true }), pane: "requests" },
          "enter",
        );
        const failed = effects.reduce(
          (next, effect) => (effect.kind === "call" ? (effect.onError?.(next, text, []).state ?? next) : next),
          state,
        );
        expectSound(failed);
      }),
      { numRuns: inputs(15) },
    );
  });
});

describe("untrusted text", () => {
  test("has its control characters escaped, while plain text stays unchanged", () => {
    fc.assert(fc.property(hostile, (text) => !FORBIDDEN.test(sanitize(text))));
    fc.assert(fc.property(fc.string(), (text) => sanitize(text) === text));
    expect(sanitize("a\x1b[31mb\u202ec\u2028d\ud83d!")).toBe("a\\u001b[31mb\\u202ec\\u2028d\\ud83d!");
    expect(sanitize("⚠️ Zoë")).toBe("⚠ Zoë");
    // A line may be wrapped at each space, so a combining character after a space is escaped.
    expect(sanitize("🏽 🏽 e\u0301 \u0301 👍🏽")).toBe("\\u1f3fd \\u1f3fd é \\u301 👍🏽");
  });

  test("is truncated and padded to the exact width", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 40 }), (text, width) => {
        const shown = sanitize(text);
        expect(widthOf(cut(shown, width))).toBeLessThanOrEqual(width);
        expect(widthOf(cutMiddle(shown, width))).toBeLessThanOrEqual(width);
        expect(stringWidth(fitTo(shown, width))).toBe(width);
        // The text does not combine with the characters beside it.
        expect(stringWidth(`│${cut(shown, width)}│`)).toBe(widthOf(cut(shown, width)) + 2);
        expect(stringWidth(fitTo(shown, width, "right", cutMiddle))).toBe(width);
      }),
      { numRuns: inputs(300) },
    );
  });

  test("is wrapped without losing characters", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 2, max: 40 }), (text, width) => {
        const shown = sanitize(text);
        const lines = wrap(shown, width);
        expect(lines.join("")).toBe(shown);
        expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
      }),
      // The example contains a character that is wider than the line.
      { numRuns: inputs(300), examples: [["👍🏽ः", 2]] },
    );
  });

  test("keeps both ends when truncated in the middle", () => {
    expect(cutMiddle("/v1/hospitality/bookings/bkg_pending/decline", 26)).toBe("/v1/hosp…g_pending/decline");
    expect(cutMiddle("/v1/日本語日本語日本語日本語/end", 16)).toBe("/v1/…日本語/end");
    expect(cutMiddle("short", 26)).toBe("short");
  });
});
