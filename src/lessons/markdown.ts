// Parses the Markdown of a lesson into sections with their blocks and comments, each with its line number.

import type { LessonBlock } from "../contracts/lesson.ts";
import { SandboxError } from "../kernel/errors.ts";

/** `<!-- word: text -->`; `line` is where the text begins. */
export interface Comment {
  word: string;
  text: string;
  line: number;
}

export interface Section {
  /** The heading, including its # characters. */
  title: string;
  line: number;
  blocks: LessonBlock[];
  comments: Comment[];
}

const FENCE = /^```\s*(\w*)\s*$/;
const HEADING = /^(#{1,2}) +(.+?)\s*$/;
const COMMENT = /^\s*<!--\s*(?:([a-z]+):)?([\s\S]*?)-->\s*$/;

/** Headings of level 1 and 2 begin a section. Content before the first heading is refused. */
export function readMarkdown(file: string, text: string): Section[] {
  const lines = text.split(/\r?\n/);
  const sections: Section[] = [];
  let prose: string[] = [];
  const refuse = (index: number, message: string): never => {
    throw new SandboxError(`${file}:${index + 1}: ${message}`, "badFixture");
  };
  const section = (index: number) => sections.at(-1) ?? refuse(index, "a lesson begins with its title, as in # Paging.");
  const endProse = () => {
    const words = prose.join("\n").trim();
    if (words !== "") sections.at(-1)?.blocks.push({ kind: "prose", text: words });
    prose = [];
  };
  /** The index of the first line from `from` on that closes the block begun at `begins`. */
  const findEnd = (begins: number, from: number, ends: (line: string) => boolean, what: string) => {
    const found = lines.findIndex((line, index) => index >= from && ends(line));
    return found === -1 ? refuse(begins, `${what} is never closed.`) : found;
  };
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as string;
    const [, hashes, title = ""] = HEADING.exec(line) ?? [];
    const fence = FENCE.exec(line);
    if (hashes !== undefined) {
      endProse();
      sections.push({ title: `${hashes} ${title}`, line: index + 1, blocks: [], comments: [] });
    } else if (fence) {
      const end = findEnd(index, index + 1, (one) => one.startsWith("```"), "the fenced block that begins here");
      section(index);
      endProse();
      section(index).blocks.push({ kind: fence[1] || "text", text: lines.slice(index + 1, end).join("\n") });
      index = end;
    } else if (line.trimStart().startsWith("<!--")) {
      const end = findEnd(index, index, (one) => one.includes("-->"), "the comment that begins here");
      const comment = readComment(lines.slice(index, end + 1).join("\n"), index + 1);
      if (comment) section(index).comments.push(comment);
      index = end;
    } else {
      if (line.trim() !== "") section(index);
      prose.push(line);
    }
  }
  endProse();
  return sections;
}

/** Comments without a word are notes of the author and are ignored. */
function readComment(text: string, line: number): Comment | undefined {
  const [, word, rest = ""] = COMMENT.exec(text) ?? [];
  if (word === undefined) return undefined;
  const before = text.slice(0, text.indexOf(rest)) + (/^\s*/.exec(rest)?.[0] ?? "");
  return { word, text: rest.trim(), line: line + before.split("\n").length - 1 };
}
