// How a detail is drawn: its links with a marker, the selected one inverse, and the matches of a search.

import type { DetailLine, Reference } from "../details/detail-lines.ts";
import { widthOf } from "../terminal/cells.ts";
import { stripStyles, styled, symbols, type TextStyle, type Theme } from "../terminal/style.ts";
import { count } from "../view/format.ts";

export interface DetailView {
  /** The first visible line. */
  readonly scroll: number;
  /** The key of the selected link. Undefined: the first link. */
  readonly selected: string | undefined;
  /** The index of the body last scrolled to; -1 before the first. */
  readonly body: number;
  readonly search: string;
  /** The index of the current match. */
  readonly match: number;
  /** The search is being typed. */
  readonly isSearching?: boolean;
}

export interface Link {
  /** Identifies the link while lines are added above it. */
  key: string;
  to: Reference;
  /** Its first line. */
  line: number;
  /** How many lines it has. */
  length: number;
}

export function linksOf(lines: readonly DetailLine[]): Link[] {
  const links: Link[] = [];
  const seen = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    if (typeof line === "string" || !("link" in line)) continue;
    const last = links.at(-1);
    if (last?.to === line.link) last.length++;
    else {
      const name = `${line.link.pane} ${line.link.id}`;
      const number = (seen.get(name) ?? 0) + 1;
      seen.set(name, number);
      links.push({ key: `${name} ${number}`, to: line.link, line: index, length: 1 });
    }
  }
  return links;
}

/** The lines at which bodies begin. */
export const bodiesOf = (lines: readonly DetailLine[]): number[] =>
  lines.flatMap((line, index) => (typeof line !== "string" && "isBody" in line ? [index] : []));

export const selectedLink = (links: readonly Link[], selected: string | undefined): Link | undefined =>
  links.find(({ key }) => key === selected) ?? links[0];

/** The part of a match that lies on one line. */
interface MatchPiece {
  line: number;
  start: number;
  end: number;
}

/** A match has two pieces where its text is wrapped. */
export type Match = readonly [MatchPiece, ...MatchPiece[]];

/** The occurrences of a text, whatever its case. A line as wide as the detail is read together with the next one, because it may be wrapped. */
export function matchesOf(lines: readonly DetailLine[], search: string, width: number): Match[] {
  if (search === "") return [];
  const texts = lines.map(plainText);
  const wanted = search.toLowerCase();
  return texts.flatMap((text, line) => {
    const isWrapped = widthOf(text) >= width - 1;
    const next = isWrapped ? (texts[line + 1] ?? "") : "";
    const indent = next.length - next.trimStart().length;
    const whole = (text + next.slice(indent)).toLowerCase();
    const matches: Match[] = [];
    for (let start = whole.indexOf(wanted); start !== -1 && start < text.length; start = whole.indexOf(wanted, start + wanted.length)) {
      const end = start + wanted.length;
      const rest = { line: line + 1, start: indent, end: indent + end - text.length };
      matches.push([{ line, start, end: Math.min(end, text.length) }, ...(end > text.length ? [rest] : [])]);
    }
    return matches;
  });
}

export const textOf = (line: DetailLine) => (typeof line === "string" ? line : line.text);
const plainText = (line: DetailLine) => stripStyles(textOf(line));

export function drawDetail(lines: readonly DetailLine[], { selected, search, match }: DetailView, theme: Theme, width: number): string[] {
  const links = linksOf(lines);
  const current = selectedLink(links, selected);
  const drawn = lines.map(textOf);
  const { cursor, link: marker } = symbols(theme);
  for (const link of links) {
    const isSelected = link === current;
    for (let line = link.line; line < link.line + link.length; line++) {
      const text = drawn[line] ?? "";
      if (isSelected) drawn[line] = selectedText(theme, stripStyles(text), line === link.line ? cursor : " ", width);
      else if (line === link.line) drawn[line] = text.replace(FIRST_SPACE, `$1${marker}`);
    }
  }
  for (const [line, pieces] of piecesByLine(matchesOf(lines, search, width), match))
    drawn[line] = highlighted(theme, stripStyles(drawn[line] ?? ""), pieces);
  return drawn;
}

/** The first cell of a line, after its styles, if it is blank. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with one.
const FIRST_SPACE = /^((?:\x1b\[[\d;]+m)*) /;

const selectedText = (theme: Theme, text: string, marker: string, width: number) =>
  styled(theme, (marker + text.slice(1)).padEnd(text.length + Math.max(0, width - widthOf(text))), "inverse");

type StyledPiece = MatchPiece & { isCurrent: boolean };

function piecesByLine(matches: readonly Match[], current: number): Map<number, StyledPiece[]> {
  const byLine = new Map<number, StyledPiece[]>();
  for (const [index, pieces] of matches.entries())
    for (const piece of pieces) byLine.set(piece.line, [...(byLine.get(piece.line) ?? []), { ...piece, isCurrent: index === current }]);
  return byLine;
}

function highlighted(theme: Theme, text: string, pieces: readonly StyledPiece[]): string {
  let result = "";
  let from = 0;
  for (const { start, end, isCurrent } of pieces) {
    const styles: TextStyle[] = isCurrent ? ["inverse"] : ["bold", "yellow"];
    result += text.slice(from, start) + styled(theme, text.slice(start, end), ...styles);
    from = end;
  }
  return result + text.slice(from);
}

/** `/zoë 2 of 5`, beside the title. */
export function searchNote(lines: readonly DetailLine[], { search, match, isSearching }: DetailView, theme: Theme, width: number): string {
  if (search === "" && !isSearching) return "";
  const found = matchesOf(lines, search, width).length;
  const result = search === "" ? "" : found === 0 ? "  no match" : `  ${count(Math.min(match, found - 1) + 1)} of ${count(found)}`;
  return `/${search}${isSearching ? symbols(theme).caret : ""}${result}`;
}
