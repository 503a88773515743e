// A lesson's page taken apart: title, opening and steps, the fenced blocks, and the comments that no reader sees, each with its line.

import type { LessonBlock } from "../contracts/lesson.ts";
import { SandboxError } from "../kernel/errors.ts";

/** `<!-- word: text -->`, with the line in which its text begins. */
export interface Comment {
  word: string;
  text: string;
  line: number;
}

export interface Section {
  /** The heading without its signs. */
  title: string;
  line: number;
  blocks: LessonBlock[];
  comments: Comment[];
}

const FENCE = /^```\s*(\w*)\s*$/;
const HEADING = /^(#{1,2}) +(.+?)\s*$/;
const COMMENT = /^\s*<!--\s*(?:([a-z]+):)?([\s\S]*?)-->\s*$/;

/** Headings of the first and second level begin a section; what comes before the first one is refused. */
export function readMarkdown(file: string, text: string): Section[] {
  const lines = text.split(/\r?\n/);
  const sections: Section[] = [];
  let prose: string[] = [];
  const refuse = (index: number, message: string): never => {
    throw new SandboxError(`${file}:${index + 1}: ${message}`, "badFixture");
  };
  const here = (index: number) => sections.at(-1) ?? refuse(index, "a lesson begins with its title, as in # Paging.");
  const endProse = () => {
    const words = prose.join("\n").trim();
    if (words !== "") sections.at(-1)?.blocks.push({ kind: "prose", text: words });
    prose = [];
  };
  /** The index of the line, not before `from`, that ends what begins somewhere. */
  const endOf = (begins: number, from: number, ends: (line: string) => boolean, what: string) => {
    const found = lines.findIndex((line, index) => index >= from && ends(line));
    return found === -1 ? refuse(begins, `${what} is never closed.`) : found;
  };
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as string;
    const [, signs, title = ""] = HEADING.exec(line) ?? [];
    const fence = FENCE.exec(line);
    if (signs !== undefined) {
      endProse();
      sections.push({ title: `${signs} ${title}`, line: index + 1, blocks: [], comments: [] });
    } else if (fence) {
      const end = endOf(index, index + 1, (one) => one.startsWith("```"), "the fenced block that begins here");
      here(index);
      endProse();
      here(index).blocks.push({ kind: fence[1] || "text", text: lines.slice(index + 1, end).join("\n") });
      index = end;
    } else if (line.trimStart().startsWith("<!--")) {
      const end = endOf(index, index, (one) => one.includes("-->"), "the comment that begins here");
      const comment = readComment(lines.slice(index, end + 1).join("\n"), index + 1);
      if (comment) here(index).comments.push(comment);
      index = end;
    } else {
      if (line.trim() !== "") here(index);
      prose.push(line);
    }
  }
  endProse();
  return sections;
}

/** One without a word is a note of the author's. */
function readComment(text: string, line: number): Comment | undefined {
  const [, word, rest = ""] = COMMENT.exec(text) ?? [];
  if (word === undefined) return undefined;
  const before = text.slice(0, text.indexOf(rest)) + (/^\s*/.exec(rest)?.[0] ?? "");
  return { word, text: rest.trim(), line: line + before.split("\n").length - 1 };
}
