// How the dashboard looks: the marks of failures, the contrast of text, the selected row, headings, the key bar and
// JSON.

import headless from "@xterm/headless";
import { describe, expect, test } from "vitest";
import { bodyLines } from "../../ui/panes/details/detail-lines.ts";
import { handleKey } from "../../ui/panes/keys/key-bindings.ts";
import type { UiState } from "../../ui/state/state.ts";
import { withNotice } from "../../ui/state/updates.ts";
import {
  contrast,
  detectTheme,
  fixedColour,
  HUES,
  type ReportedColours,
  stripStyles,
  type Theme,
  tonesOn,
} from "../../ui/text/style.ts";
import { renderLines, screenOf, screenText } from "../support/dashboard.ts";
import {
  attempted,
  emptyDashboard,
  judged,
  rateWindow,
  requested,
  rule,
  withLiveEvents,
  withRulesAndWindows,
} from "../support/live-rows.ts";
import { PALETTES, type Palette } from "../support/palettes.ts";

const COLOURS = { colours: true, unicode: true };

const failing = (columns = 120, rows = 36, pane = "requests"): UiState => {
  const state = withLiveEvents({ ...emptyDashboard(columns, rows), theme: COLOURS }, [
    requested(1, { path: "/v1/five", status: 503 }),
    requested(2, { path: "/v1/lost", status: 0 }),
    requested(3, { path: "/v1/four", status: 429 }),
    requested(4, { path: "/v1/good" }),
    attempted(1, { status: "failed", responseStatus: 410 }),
    attempted(2),
    judged(1),
    judged(2, { verdict: "pass" }),
  ]);
  return { ...withRulesAndWindows(state, [rule(1)], [rateWindow({ merchant: "mer_market", remaining: 0 })]), pane };
};

interface Cell {
  text: string;
  /** An index of the 256 colours; undefined for the terminal's default. */
  colour: number | undefined;
  background: number | undefined;
  bold: boolean;
  dim: boolean;
  inverse: boolean;
}

/** The cells of the screen as a terminal shows them. */
const cellsOf = (state: UiState) => cellsOfLines(renderLines(state), state.size);

async function cellsOfLines(lines: readonly string[], { columns: cols, rows }: UiState["size"]): Promise<Cell[][]> {
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(lines.join("\r\n"), done));
  return Array.from({ length: rows }, (_row, row) =>
    Array.from({ length: cols }, (_column, column) => {
      const cell = terminal.buffer.active.getLine(row)?.getCell(column);
      if (!cell) throw new Error("The screen has no such cell");
      return {
        text: cell.getChars() || " ",
        colour: cell.isFgDefault() ? undefined : cell.getFgColor(),
        background: cell.isBgDefault() ? undefined : cell.getBgColor(),
        bold: cell.isBold() !== 0,
        dim: cell.isDim() !== 0,
        inverse: cell.isInverse() !== 0,
      };
    }),
  );
}

/** The cells of `wanted` in the first line that has it after `beside`. */
function find(screen: Cell[][], wanted: string, beside = ""): Cell[] {
  for (const line of screen) {
    const text = line.map((cell) => cell.text).join("");
    const from = beside === "" ? 0 : text.indexOf(beside);
    const at = from === -1 ? -1 : text.indexOf(wanted, from);
    if (at !== -1) return line.slice(at, at + wanted.length);
  }
  throw new Error(`The screen does not show ${wanted}`);
}

test("the line below the panes says why the selected row failed, and the tabs count failed verdicts", () => {
  const summary = "invalid_state: Booking bkg_pending is already declined; only pending bookings can become declined.";
  const path = "/v1/hospitality/bookings/bkg_pending/decline";
  const state = withLiveEvents(emptyDashboard(120, 36), [
    requested(1),
    requested(2, { method: "POST", path, status: 409, summary }),
  ]);
  const line = (shown: UiState) => screenOf(shown).at(-2)?.trim();
  expect(line(state)).toBe(`✗ 409 ${summary}`);
  expect(line(handleKey(state, "k").state)).toBe("");
  expect(line(handleKey(state, "enter").state)).toBe("");
  const failed = withLiveEvents(state, [judged(1)]);
  expect([line(failed), screenOf(failed)[1]]).toEqual([`✗ 409 ${summary}`, expect.stringContaining("5 Verdicts ✗1")]);
  expect(line(handleKey(failed, "k").state)).toContain("✗ retry_after.honoured failed");
  expect(line({ ...failed, pane: "verdicts" })).toBe(
    "✗ The call came again after 41 ms; Retry-After said 2 s. Wait for as many seconds as Retry-After says.",
  );
  const sent = attempted(1, { status: "failed", responseStatus: 500, summary: "database is down" });
  expect(line({ ...withLiveEvents(state, [sent]), pane: "deliveries" })).toBe("✗ 500 database is down");
});

test("at 80 columns, the key bar begins with the keys that open and filter rows", () => {
  const state = withLiveEvents(emptyDashboard(80, 24), [requested(1)]);
  expect(screenOf(state).at(-1)).toMatch(/^ Enter details {2}\/ filter {2}/);
});

describe("failures", () => {
  test("with a 5xx or a cut connection have a mark before them, with or without colours", async () => {
    const state = failing();
    for (const theme of [COLOURS, { colours: false, unicode: true }]) {
      const text = screenText({ ...state, theme });
      expect(text).toMatch(/\/v1\/five +✗503/);
      expect(text).toMatch(/\/v1\/lost +✗cut/);
      expect(text).toMatch(/\/v1\/four + 429/);
    }
    expect(find(await cellsOf(state), "✗", "/v1/five")).toMatchObject([{ colour: 1, bold: true }]);
  });
});

describe("text", () => {
  const JSON_BODY = JSON.stringify({ name: "one", amount: -12.5, paid: true });
  /**
   * Screens with every kind of text: lists, tabs, details, a form with an invalid field, notices, JSON, a lost
   * connection.
   */
  const screensOf = async (theme: Theme): Promise<Cell[][]> => {
    const state = { ...failing(), theme };
    const keys = (...pressed: string[]) => pressed.reduce((before, key) => handleKey(before, key).state, state);
    const narrow = { ...state, size: { columns: 80, rows: 24 } };
    const lost: UiState = { ...state, connection: { phase: "detached", reason: "gone" } };
    const shown = [
      ...["requests", "deliveries", "limits", "faults", "verdicts"].flatMap((pane) => [
        { ...narrow, pane },
        keys(paneKey(pane), "g", "enter"),
      ]),
      keys("c", "a", "d", "v", "a", "n", "c", "e", "space", "b", "tab", "x"),
      lost,
      ...(["green", "yellow", "failure"] as const).map((style) => withNotice(state, "A notice with words", style)),
    ];
    const json = await cellsOfLines(bodyLines(theme, 70, JSON_BODY, JSON_BODY.length), { columns: 80, rows: 24 });
    return [...(await Promise.all(shown.map(cellsOf))).flat(), ...json];
  };
  /** Cached, because several palettes give the same tones. */
  const known = new Map<string, Promise<Cell[]>>();
  const colouredWords = (theme: Theme): Promise<Cell[]> => {
    const key = JSON.stringify(theme);
    const found =
      known.get(key) ??
      screensOf(theme).then((rows) => rows.flat().filter((cell) => isWord(cell) && cell.colour !== undefined));
    known.set(key, found);
    return found;
  };
  const paneKey = (pane: string) =>
    String(["requests", "deliveries", "limits", "faults", "verdicts"].indexOf(pane) + 1);
  const isWord = ({ text }: Cell) => /[\p{L}\p{N}]/u.test(text);
  const hexOf = ({ colours }: Palette, index: number) => (index < 16 ? colours[index] : fixedColour(index)) ?? "";
  const reportOf = ({ background, colours }: Palette): ReportedColours => ({
    background,
    ...Object.fromEntries(HUES.map((hue, index) => [hue, colours[index + 1]])),
  });

  describe.each(Object.entries(PALETTES))("with %s", (_name, palette) => {
    test.each([
      ["its palette", tonesOn(reportOf(palette))],
      ["its background only", tonesOn({ background: palette.background })],
      ["nothing", undefined],
    ])("has a contrast of 4.5 or more where it is coloured, when the terminal reports %s", async (_what, tones) => {
      const coloured = await colouredWords({ ...COLOURS, ...(tones && { tones }) });
      const weak = coloured.filter(({ colour = 0, background }) => {
        const back = background === undefined ? palette.background : hexOf(palette, background);
        return contrast(hexOf(palette, colour), back) < 4.5;
      });
      expect(weak.map(({ text, colour }) => `${text} ${colour}`)).toEqual([]);
      expect(new Set(coloured.map(({ colour }) => colour)).size).toBeGreaterThanOrEqual(tones ? 5 : 0);
    });
  });

  test("has the palette's colours where they are readable, and fixed ones otherwise", () => {
    expect(tonesOn({ background: "ffffff", red: "cd0000", green: "00cd00" })).toMatchObject({
      red: "31",
      green: "38;5;28",
    });
    expect(tonesOn({ red: "cd0000" })).toEqual({});
    expect([contrast("ffffff", "000000"), contrast("767676", "ffffff")]).toEqual([21, expect.closeTo(4.54, 2)]);
  });
});

describe("the selected row", () => {
  test.each(["requests", "deliveries", "limits", "faults", "verdicts"])(
    "of %s has one tone from border to border",
    async (pane) => {
      for (const key of ["k", "j"]) {
        const screen = await cellsOf(handleKey(failing(120, 36, pane), key).state);
        const row = screen.find((line) => line.filter(({ inverse }) => inverse).length > 20);
        // The cells of a bar are not in inverse, because a full bar would look empty.
        const selected = row?.filter(({ inverse, text }) => inverse || /[█░]/.test(text)) ?? [];
        const tones = new Set(
          selected.map(({ colour, background, bold, dim }) => [colour, background, bold, dim].join()),
        );
        expect([selected.length > 20, tones.size]).toEqual([true, 1]);
        const from = row?.findIndex(({ inverse }) => inverse) ?? 0;
        expect([row?.[from - 1]?.text, row?.[from + selected.length]?.text]).toEqual(["│", "│"]);
      }
    },
  );
});

describe("headings", () => {
  test("are above the columns of a list; a list with few lines shows a row in their place", () => {
    const lines = screenOf(failing());
    const heading = lines.find((line) => line.includes("method"));
    const row = lines.find((line) => line.includes("/v1/five"));
    expect(heading?.indexOf("method")).toBe(row?.indexOf("GET"));
    expect(heading?.indexOf("path")).toBe(row?.indexOf("/v1/five"));
    const low = screenText(failing(110, 15));
    expect(low).not.toContain("of limit");
  });

  test("leave the last row visible while the list follows", () => {
    const many = Array.from({ length: 60 }, (_, index) => requested(index, { path: `/v1/n${index}` }));
    for (const [columns, rows] of [
      [80, 24],
      [120, 36],
      [60, 15],
    ] as const) {
      const state = withLiveEvents(emptyDashboard(columns, rows), many);
      expect(renderLines(state).join("\n")).toContain("/v1/n59 ");
      expect(renderLines(handleKey(state, "g").state).join("\n")).toContain("/v1/n0 ");
    }
  });
});

test("the key bar has bold keys and dim labels", async () => {
  const bar = (await cellsOf(failing())).at(-1) ?? [];
  expect(find([bar], "Enter").every(({ bold, dim }) => bold && !dim)).toBe(true);
  expect(find([bar], "details").every(({ bold, dim }) => dim && !bold)).toBe(true);
});

const ON_BLACK: Theme = {
  ...COLOURS,
  tones: tonesOn({ background: "000000", green: "00cd00", magenta: "ff00ff", cyan: "00cdcd" }),
};

test("lists use colours only for a meaning, such as amber for a 4xx and violet for a fault", async () => {
  const tones = tonesOn({ background: "000000", yellow: "cdcd00", magenta: "ff00ff", green: "00cd00" });
  const state = withLiveEvents({ ...emptyDashboard(120, 36), theme: { ...COLOURS, tones } }, [
    requested(1, { method: "POST", path: "/v1/good" }),
    requested(2, { method: "DELETE", path: "/v1/four", status: 404 }),
    requested(3, { path: "/v1/slow", fault: "flt_1" }),
    requested(4),
  ]);
  const screen = await cellsOf(state);
  const colourOf = (wanted: string, beside = "") => find(screen, wanted, beside)[0]?.colour;
  expect(["POST", "DELETE", "GET "].map((method) => colourOf(method))).toEqual([undefined, undefined, undefined]);
  expect([colourOf("200", "/v1/good"), colourOf("404", "/v1/four"), colourOf("*", "/v1/slow")]).toEqual([
    undefined,
    3,
    5,
  ]);
});

describe("JSON", () => {
  const body = JSON.stringify({
    note: 'a "quoted" text, which is long: {"x": 1}',
    amount: -12.5,
    paid: true,
    rows: ["one", 2, null],
  });

  test.each([20, 80])(
    "has colours for names, strings and other values, and the same text as without colours, at %i columns",
    (width) => {
      const coloured = bodyLines(ON_BLACK, width, body, body.length);
      expect(coloured.map(stripStyles)).toEqual(bodyLines({ colours: false, unicode: true }, width, body, body.length));
      expect(coloured.join("\n")).toContain('\x1b[36m"amount"\x1b[39m: \x1b[35m-12.5\x1b[39m');
      expect(coloured.join("\n")).toContain('\x1b[32m"one"\x1b[39m');
    },
  );

  test("is indented up to the place at which the log cut it", () => {
    const whole = bodyLines(COLOURS, 400, body, body.length).map(stripStyles).join("\n");
    for (let end = 1; end < body.length; end++) {
      const lines = bodyLines(COLOURS, 400, body.slice(0, end), body.length).map(stripStyles);
      expect(lines.pop()).toBe(`  truncated: this is the start of ${body.length} bytes`);
      expect(whole).toContain(lines.join("\n").trimEnd());
    }
  });

  test("may be nested deep, keeps long numbers, and does not count as truncated because of masked secrets", () => {
    const shown = (text: string, bytes = text.length) =>
      bodyLines(COLOURS, 400, text, bytes).map(stripStyles).join("\n");
    const brackets = "[".repeat(8_192);
    for (const text of [brackets + "]".repeat(8_192), brackets, '{"":'.repeat(4_096)])
      expect(shown(text, 20_000)).toContain("truncated");
    expect(shown('{"id": 12345678901234567890, "none": [ ], "e": 1.0}')).toBe(
      '  {\n    "id": 12345678901234567890,\n    "none": [],\n    "e": 1.0\n  }',
    );
    expect(shown('{"secret":"…"}', 60)).not.toContain("truncated");
  });

  test("has colours, but other text has none", () => {
    expect(bodyLines(COLOURS, 80, 'it said "no" 3 times', 20)).toEqual(['  it said "no" 3 times']);
  });
});

test("the Linux console gets ASCII, whatever its locale", () => {
  expect(detectTheme({ TERM: "linux", LANG: "en_GB.UTF-8" }).unicode).toBe(false);
  expect(detectTheme({ TERM: "xterm-256color", LANG: "en_GB.UTF-8" }).unicode).toBe(true);
});
