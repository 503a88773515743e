// A self-contained HTML page without scripts: a report that is saved, mailed or kept by a CI job. Its policy allows its own style sheet only.

import { createHash } from "node:crypto";
import baseStyle from "./base.css?raw";
import { type Markup, markup, Markup as Raw } from "./markup.ts";

interface StaticPage {
  title: string;
  /** Rules that only this page has, after those of every page. */
  style: string;
  /** The content of `main`. */
  content: Markup;
}

/** The style sheet of a page, in one text. */
export const withBaseStyle = (style: string): string => `${baseStyle}\n${style}`;

export function staticPage({ title, style, content }: StaticPage): string {
  const whole = withBaseStyle(style);
  const hash = createHash("sha256").update(whole).digest("base64");
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Raw(whole)}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`.text;
}
