// One browser for all tests of a describe block.

import { afterAll, beforeAll } from "vitest";
import { type Browser, browserFile, openBrowser } from "./browser.ts";

/** A browser for the tests of a describe block. */
export function browserForBlock(): Pick<Browser, "open"> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(browserFile as string);
  });
  afterAll(() => browser?.close());
  return { open: (url, media) => browser.open(url, media) };
}
