// One browser for all tests of a describe block.

import { afterAll, afterEach, beforeAll } from "vitest";
import { type Browser, browserFile, openBrowser, type Page } from "./browser.ts";

/** A browser for the tests of a describe block. Its pages are closed after each test: an open dashboard would go on looking for its sandbox. */
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
