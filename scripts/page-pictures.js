// Takes the pictures of the page in a browser, at the width of a desktop screen and of a phone.

import { browserOfTests } from "./browser-of-tests.js";

/** Resolves to the pictures: their names and WebP files. */
export async function pagePictures(url, shade) {
  const { browserFile, openBrowser } = await browserOfTests();
  if (!browserFile) throw new Error("The pictures of the page need Chromium in PATH");
  const browser = await openBrowser(browserFile);
  try {
    const page = await browser.open(url, { "prefers-color-scheme": shade });
    await page.resize(390, 844);
    await page.shows(`document.querySelectorAll(".list .row").length > 10`);
    const phone = await page.picture();
    await page.resize(1_440, 900);
    await page.click(".list .row", "payroll");
    // The details contain `operation` only after they have loaded.
    await page.shows(`document.querySelector(".detail")?.innerText.includes("operation")`);
    return [
      ["page-390", phone],
      ["page", await page.picture()],
    ];
  } finally {
    await browser.close();
  }
}
