// A page in one HTML document, with its style sheet and script inlined. Its Content Security Policy allows, by their
// hashes, only this script, this style sheet and the style sheet of reports.
//
// The HTML contains no data: the script loads the data, and inserts the input of learners as text. The guard needs no
// exception for these pages, because it admits requests from this origin, and rejects requests from other origins. All
// pages of this origin belong to the sandbox. Reports may not run scripts. The pages in this folder run only the script
// whose hash is in their policy, and connect only to this origin.

import { createHash } from "node:crypto";
import { Document } from "../../kernel/reply-bodies.ts";

interface PageFiles {
  html: string;
  style: string;
  script: string;
  /** The style sheet of reports. The page opens reports as blobs, and a blob inherits the policy of its page. */
  reportStyle: string;
}

const LINK = /<link rel="stylesheet" href="[\w.-]+">/;
const SCRIPT = /<script src="[\w.-]+"><\/script>/;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export function inlinePage({ html, style, script, reportStyle }: PageFiles): Document {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)} ${hashOf(reportStyle)}`,
    "connect-src 'self'",
    // The icon is a data URL.
    "img-src data:",
    // The browser blocks scripts from inserting text as markup.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  const text = html.replace(LINK, () => `<style>${style}</style>`).replace(SCRIPT, () => `<script>${script}</script>`);
  return new Document("text/html", text, policy);
}
