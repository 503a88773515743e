// The dashboard for a browser: its files, as the build made them, in one page.

import { existsSync, readFileSync } from "node:fs";
import { inlinePage } from "../control/pages/inline-page.ts";
import { SandboxError } from "../kernel/errors.ts";
import { reportStyle } from "../report/html-page.ts";
import { packageFile } from "./package-files.ts";

export function loadDashboardPage() {
  if (!existsSync(packageFile("dist/browser/page.html")))
    throw new SandboxError("The page of the dashboard has not been built: run npm run build.", "usage");
  const [html = "", style = "", script = ""] = ["page.html", "page.css", "main.js"].map((name) =>
    readFileSync(packageFile(`dist/browser/${name}`), "utf8"),
  );
  return inlinePage({ html, style, script, blobStyles: [reportStyle], hasIcon: true });
}
