// One browser for all tests of a describe block, and its calls that are in flight.

import { afterAll, beforeAll } from "vitest";
import { type Browser, browserFile, openBrowser, type Page } from "./browser.ts";

/** A browser for the tests of a describe block. */
export function browserForBlock(): Pick<Browser, "open"> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(browserFile as string);
  });
  afterAll(() => browser?.close());
  return { open: (url, media) => browser.open(url, media) };
}

/** Counts calls that are in flight, so that a key follows what the one before it has fetched, as that of a person who looks does. */
export const COUNT_CALLS = `{ window.inFlight = 0;
  const track = (call) => function (...given) { inFlight++; return call.apply(this, given).finally(() => inFlight--); };
  window.fetch = track(fetch); Response.prototype.text = track(Response.prototype.text); }`;

/** Waits until no call is in flight and the page has painted. */
export const idle = (page: Page) =>
  page.evaluate(
    `new Promise((resolve) => { const look = () => inFlight === 0 ? requestAnimationFrame(() => resolve()) : setTimeout(look, 5); look(); })`,
  );
