// One window of the browser for all tests of a describe block, and a count of a page's calls in flight.

import { afterAll, afterEach, beforeAll } from "vitest";
import { type Browser, browserFile, openBrowser, type Page } from "./browser.ts";

/**
 * A window for the tests of a describe block. Its pages are closed after each test, because an open dashboard would
 * continue to look for its sandbox.
 */
export function browserForBlock(): Pick<Browser, "open"> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(browserFile as string);
  });
  const pages: Page[] = [];
  afterEach(() => Promise.all(pages.splice(0).map((page) => page.send("Page.close"))));
  afterAll(() => browser?.close());
  return {
    async open(url, media) {
      const page = await browser.open(url, media);
      pages.push(page);
      return page;
    },
  };
}

/**
 * Counts calls in flight. Like a person, a test presses a key only after the data for the previous key has arrived.
 */
export const COUNT_CALLS = `{ window.inFlight = 0;
  const track = (call) => function (...given) { inFlight++; return call.apply(this, given).finally(() => inFlight--); };
  window.fetch = track(fetch); Response.prototype.text = track(Response.prototype.text); }`;

/** Waits until no call is in flight and the page has painted. */
export const idle = (page: Page) =>
  page.evaluate(
    "new Promise((resolve) => { const look = () => inFlight === 0 ? requestAnimationFrame(() => resolve()) : " +
      "setTimeout(look, 5); look(); })",
  );
