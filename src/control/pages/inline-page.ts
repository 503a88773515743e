// A page in one document: its style sheet and its script are put into its HTML, and its policy allows just those, by their hashes.
//
// The HTML contains no data: the script loads it, and inserts the input of learners as text. The guard needs no exception for these pages.
// It admits requests by origin, and every page of this origin is ours: a report may run no script, these pages run the one whose hash is
// in their policy, and they connect to nothing but this origin. A request from a page of another origin is refused before it is read.

import { createHash } from "node:crypto";
import { Document } from "../../contracts/endpoint.ts";

interface PageFiles {
  html: string;
  style: string;
  script: string;
  /** Style sheets of documents that the page opens as blobs: a blob has the policy of the page that made it. */
  blobStyles?: readonly string[];
  /** The page has an icon in a data URL. Default: no images. */
  hasIcon?: boolean;
}

const LINK = /<link rel="stylesheet" href="[\w.-]+">/;
const SCRIPT = /<script src="[\w.-]+"><\/script>/;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export function inlinePage({ html, style, script, blobStyles = [], hasIcon = false }: PageFiles): Document {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${[style, ...blobStyles].map(hashOf).join(" ")}`,
    "connect-src 'self'",
    ...(hasIcon ? ["img-src data:"] : []),
    // The browser itself refuses text that a script would insert as markup.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  const text = html.replace(LINK, () => `<style>${style}</style>`).replace(SCRIPT, () => `<script>${script}</script>`);
  return new Document("text/html", text, policy);
}
