// A page that asks for its own data: static markup, one style and one script, both known by their hashes.
//
// Such a page holds no data, so nothing that an attendee wrote is ever markup: the script puts it in as text. The guard needs no
// exception for it. It lets a page in by its origin, and every page of this origin is ours: reports may run no script at all, these
// run the one whose hash stands in their policy, and nothing but this origin hears from them. A page of any other origin is refused
// before its request is read, whatever it knows of the room.

import { createHash } from "node:crypto";
import { Document } from "../../contracts/document.ts";

interface LivePage {
  title: string;
  style: string;
  script: string;
  /** Without anything that somebody else wrote. */
  body: string;
}

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export function livePage({ title, style, script, body }: LivePage): Document {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    // Text that a script takes for markup is refused by the browser itself.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>`;
  const text = `<!doctype html>\n<html lang="en"><head>${head}<style>${style}</style></head>\n<body>${body}<script>${script}</script></body></html>\n`;
  return new Document("text/html", text, policy);
}
