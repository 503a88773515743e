// Every button of the page does what its label says, in each pane, detail, form and text, on a wide screen and on a
// phone.

import { describe, expect, test } from "vitest";
import { browserFile, inBrowser, type Page } from "../support/browser.ts";
import { browserForBlock, COUNT_CALLS, idle } from "../support/browser-for-block.ts";
import { seenAfter } from "../support/key-labels.ts";
import { workplace } from "../support/tasks.ts";

const PANES = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"];
/** The explorer has no digit. It is the last tab, to which Left leads from the first. It has only common buttons. */
const EXPLORER = ["1", "Left"];
/** The keys that lead from the list of requests to each view with buttons of its own. */
const VIEWS = [
  EXPLORER,
  ...PANES.map((pane) => [pane]),
  ...["1", "2", "3", "4", "5", "7", "8", "9", "0"].map((pane) => [pane, "Enter"]),
  ...[["/", "4"], ["/", "4", "Enter"], ["Enter", "/"], ["Enter", "/", "a", "Enter"], ["E"], ["X", "Enter"]],
  ["o", "Enter", "!"],
  ...["x", "t", "c", "m", "w", "X", "b", "D", ":", "?"].map((key) => [key]),
];

const WIDTHS = [1_440, 390];
/**
 * `npm run walks` clicks in every view at each width. `npm test` clicks in every fourth view, at one of the two widths,
 * because each view takes seconds.
 */
const STEP = process.env.WALKS === undefined ? 8 : 1;

/**
 * After a click on one of these buttons, the test opens a fresh page. The buttons may remove the content of a view, or
 * apply a filter that hides rows of later views.
 */
const CHANGING = /^(?:send|remove|reset everything|suspend|undo|resend|apply)/;

/** The visible and enabled buttons of the topmost view. */
const BUTTONS = `[...document.querySelectorAll(
  document.querySelector("dialog[open]") ? "dialog button" : ".keys button, .detail .head button")]
  .filter((one) => one.checkVisibility() && !one.disabled)`;
/** The label of each button: its text, or else its `aria-label`. The button that sends a form is named `send`. */
const LABELS = `${BUTTONS}
  .map((one) => one.type === "submit" ? "send" :
    [...one.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data).join("").trim()
      .replace(/^undo .*/, "undo") || one.ariaLabel)`;

/** The name of a button's key in the table of keys. */
function nameOf(label: string): string {
  if (/more field|fewer/.test(label)) return "more";
  return label === "Esc: close" ? "back" : label.toLowerCase();
}

const LOOK = `[
  "open: " + (document.querySelector("dialog[open] h2, dialog[open] .palette input")?.textContent ??
    (document.querySelector(".detail .head button") && document.querySelector(".detail h2").textContent) ??
    "").replace(/^$/, document.querySelector(".palette") ? "Commands" : ""),
  "notice: " + document.querySelector("[role=status]").textContent,
  "typed: " + (document.activeElement.matches(".filter input, .palette input") ? document.activeElement.value : "none"),
  ...window.copied.map((text) => "copied: " + text),
  "tab: " + window.tabs,
  document.querySelector("#root").innerText,
  [...document.querySelectorAll(".detail-lines")].map(({ scrollTop }) => scrollTop),
].join("\\n")`;

/** Records the texts that the page copies, and counts the tabs that it opens. */
const WATCH = `{ window.copied = []; window.tabs = 0; window.open = () => { tabs++; return window; };
  navigator.clipboard.writeText = async (text) => void copied.push(text); }`;

describe.runIf(browserFile)(`the dashboard ${inBrowser}`, () => {
  const browser = browserForBlock();

  async function openFresh(width: number): Promise<Page> {
    const bench = await workplace();
    await bench.control("POST", "/scenarios/lost-response");
    const page = await browser.open(`${bench.url}/_sandbox/ui`);
    await page.resize(width, 900);
    await page.shows(`document.querySelector("#root").textContent.includes("decline")`);
    await page.evaluate(WATCH);
    await page.evaluate(COUNT_CALLS);
    return page;
  }

  test.each(WIDTHS)("has buttons that do what their labels say at %i px", { timeout: 600_000 }, async (width) => {
    let page = await openFresh(width);
    const visit = async (view: readonly string[]) => {
      // Enter would click a focused button.
      await page.evaluate("document.activeElement.blur()");
      for (const key of ["Escape", "Escape", "Escape", "1", "Escape", "f"]) await page.press(key);
      if (await page.evaluate(`document.querySelector(".note").textContent.includes("FROZEN")`)) await page.press(" ");
      for (const key of view) {
        await page.press(key);
        await idle(page);
      }
      await page.shows(`document.querySelector(".row, .chart, .text, .operation, dialog[open]") !== null`);
      await page.evaluate(`void (copied.length = 0)`);
    };
    const silent: string[] = [];
    const clicked = new Set<string>();
    for (const [nth, view] of VIEWS.entries()) {
      if (view !== EXPLORER && (nth + 4 * WIDTHS.indexOf(width)) % STEP !== 0) continue;
      await visit(view);
      for (const label of await page.evaluate<string[]>(LABELS)) {
        if (clicked.has(label)) continue;
        if (view === EXPLORER) clicked.add(label);
        await visit(view);
        // A fresh page has nothing to undo.
        if (label === "undo" && !(await page.evaluate<string[]>(LABELS)).includes(label)) continue;
        // The next frame renders the polled rows. Only then does the page have buttons for the keys of a row.
        await page.shows(`${LABELS}.includes(${JSON.stringify(label)})`);
        const before = await page.evaluate<string>(LOOK);
        await page.evaluate(`{ document.querySelector("[data-next]")?.removeAttribute("data-next");
          ${BUTTONS}[${LABELS}.indexOf(${JSON.stringify(label)})].setAttribute("data-next", ""); }`);
        await page.click("[data-next]");
        await idle(page);
        const after = await page.evaluate<string>(LOOK);
        const name = nameOf(label);
        const wanted = name.startsWith("report") ? /^tab: 1/m : seenAfter(name);
        if (after === before || !wanted.test(after))
          silent.push(`${view.join(" ")} ${label}: ${after.split("\n", 4).join()}`);
        if (CHANGING.test(name)) page = await openFresh(width);
      }
    }
    expect(silent).toEqual([]);
    expect(page.complaints).toEqual([]);
  });
});
