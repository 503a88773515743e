// Reads the answer to a request off the wire as HTTP/1.1 has it: head, length and end, and whether the connection may be kept.

import { memoize } from "../../kernel/bounded-cache.ts";

/** What hears the answer while it comes. */
export interface AnswerEars {
  status(status: number, retryAfter: string | undefined): void;
  /** A piece of the body, to be copied by whoever keeps it: the bytes are overwritten by the next piece. */
  data(bytes: Buffer): void;
}

export interface Answer {
  /** Takes what has come; answers whether the answer is whole. Throws where it is no HTTP. */
  take(bytes: Buffer): boolean;
  /** Whether it is whole if the receiver sends no more. */
  isWholeAtEnd(): boolean;
  /** For how many milliseconds the connection may be kept for another request, now that the answer is whole. */
  keptFor(): number;
}

/** Takes bytes from a place on; answers how far it came, and goes on only if that is before the end of them. */
interface Body {
  take(bytes: Buffer, from: number): number;
  readonly isWhole: boolean;
  /** Whether it is whole when the connection ends. */
  readonly untilEnd?: boolean;
}

interface Head {
  status: number;
  retryAfter: string | undefined;
  kept: number;
  body(ears: AnswerEars): Body;
}

/** The `code` of an error that says that an answer is no HTTP. */
export const NOT_HTTP = "ERR_NOT_HTTP";

const LONGEST_HEAD = 16_384;
const LONGEST_LINE = 1_024;
/** A connection that nobody spoke of is kept for less than any usual receiver keeps it: what is sent while it closes is lost. */
const USUALLY_KEPT = 4_000;
/** So much earlier than a receiver says that it will close one. */
const BEFORE_IT_CLOSES = 1_000;

const HEAD = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?(?:\r\n[\w!#$%&'*+.^`|~-]+:[^\r\n\0]*)*$/;
const FIELDS = /\r\n(content-length|transfer-encoding|connection|keep-alive|retry-after):([^\r]*)/gi;

const MOST_HEADS = 50;

const notHttp = (what: string) => Object.assign(new Error(what), { code: NOT_HTTP });

/** Receivers answer the same again and again. */
const heads = memoize(MOST_HEADS, readHead);

export function readAnswer(ears: AnswerEars): Answer {
  let text = "";
  let head: Head | undefined;
  let body: Body | undefined;
  /** Answers where the body begins, or undefined while the head is not whole. What comes before the answer itself is passed over. */
  const takeHead = (bytes: Buffer, from: number): number | undefined => {
    const before = text.length;
    text += bytes.toString("latin1", from, from + LONGEST_HEAD + 4);
    const end = text.indexOf("\r\n\r\n", Math.max(0, before - 3));
    if (end < 0 || end > LONGEST_HEAD) return refuseOddHead(text);
    head = heads(text.slice(0, end));
    text = "";
    const next = from + end + 4 - before;
    if (head.status < 200) return takeHead(bytes, next);
    body = head.body(ears);
    ears.status(head.status, head.retryAfter);
    return next;
  };
  let left = false;
  return {
    take(bytes) {
      const from = body ? 0 : takeHead(bytes, 0);
      if (from === undefined || !body) return false;
      const to = body.isWhole ? from : body.take(bytes, from);
      left = body.isWhole && to < bytes.length;
      return body.isWhole;
    },
    isWholeAtEnd: () => body?.untilEnd === true,
    // What nobody asked for came after it: the next answer would not be the one to the next request.
    keptFor: () => (left || !head ? 0 : head.kept),
  };
}

/** A head that is not whole yet: if it cannot become one, that is known before its end. */
function refuseOddHead(text: string): undefined {
  if (text.length > LONGEST_HEAD) throw notHttp("its head is longer than 16 KiB");
  if (!"HTTP/1.".startsWith(text.slice(0, 7))) throw notHttp("it begins otherwise");
  return undefined;
}

function readHead(text: string): Head {
  const [, minor, digits] = HEAD.exec(text) ?? [];
  if (digits === undefined) throw notHttp("its head is malformed");
  const fields = new Map<string, string[]>();
  for (const [, name = "", value = ""] of text.matchAll(FIELDS)) {
    const key = name.toLowerCase();
    fields.set(key, [...(fields.get(key) ?? []), value.trim()]);
  }
  const of = (name: string) => fields.get(name)?.join().toLowerCase();
  const status = Number(digits);
  if (status === 101) throw notHttp("it goes on to another protocol");
  const body = bodyOf(status, of("transfer-encoding"), of("content-length"));
  return { status, retryAfter: fields.get("retry-after")?.[0], kept: keptFor(minor === "1", of("connection"), of("keep-alive")), body };
}

function keptFor(isUsual: boolean, connection = "", keepAlive = ""): number {
  const isKept = isUsual ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
  const seconds = /\btimeout=(\d{1,9})\b/.exec(keepAlive)?.[1];
  if (!isKept) return 0;
  return seconds === undefined ? USUALLY_KEPT : Math.max(0, Math.min(USUALLY_KEPT, Number(seconds) * 1_000 - BEFORE_IT_CLOSES));
}

function bodyOf(status: number, coding: string | undefined, length: string | undefined): Head["body"] {
  if (coding !== undefined && length !== undefined) throw notHttp("it has two lengths");
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw notHttp("its length is no number");
  if (status < 200 || status === 204 || status === 304) return () => measured(0);
  if (coding !== undefined && /(^|[\s,])chunked$/.test(coding)) return chunked;
  return length === undefined ? unmeasured : (ears) => measured(Number(length), ears);
}

function measured(length: number, ears?: AnswerEars): Body {
  let rest = length;
  const body = {
    isWhole: rest === 0,
    take(bytes: Buffer, from: number) {
      const to = Math.min(bytes.length, from + rest);
      if (to > from) ears?.data(bytes.subarray(from, to));
      rest -= to - from;
      body.isWhole = rest === 0;
      return to;
    },
  };
  return body;
}

const unmeasured = (ears: AnswerEars): Body => ({
  isWhole: false,
  untilEnd: true,
  take(bytes, from) {
    if (from < bytes.length) ears.data(bytes.subarray(from));
    return bytes.length;
  },
});

function chunked(ears: AnswerEars): Body {
  let line = "";
  let rest = 0;
  let expects: "size" | "data" | "line end" | "trailer" | "nothing" = "size";
  const takeLine = (bytes: Buffer, from: number): number => {
    const end = bytes.indexOf("\n", from);
    const to = end < 0 ? bytes.length : end + 1;
    line += bytes.toString("latin1", from, to);
    if (line.length > LONGEST_LINE) throw notHttp("the line before a chunk is too long");
    if (end < 0) return to;
    if (!line.endsWith("\r\n")) throw notHttp("a line of its chunks has no right end");
    hear(line.slice(0, -2));
    line = "";
    return to;
  };
  const hear = (whole: string) => {
    if (expects === "trailer") expects = whole === "" ? "nothing" : "trailer";
    else if (expects === "line end") {
      if (whole !== "") throw notHttp("a chunk is longer than it says");
      expects = "size";
    } else {
      const size = /^([\da-f]{1,12})[ \t]*(?:;.*)?$/i.exec(whole)?.[1];
      if (size === undefined) throw notHttp("a chunk does not say its size");
      rest = Number.parseInt(size, 16);
      expects = rest === 0 ? "trailer" : "data";
    }
  };
  const takeData = (bytes: Buffer, from: number): number => {
    const to = Math.min(bytes.length, from + rest);
    ears.data(bytes.subarray(from, to));
    rest -= to - from;
    if (rest === 0) expects = "line end";
    return to;
  };
  return {
    get isWhole() {
      return expects === "nothing";
    },
    take(bytes, from) {
      let place = from;
      while (place < bytes.length && expects !== "nothing") place = expects === "data" ? takeData(bytes, place) : takeLine(bytes, place);
      return place;
    },
  };
}
