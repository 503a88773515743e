// Finds the place where a text stops being JSON. The messages of JSON.parse differ by browser and often lack the place.

const STRING = String.raw`"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
/** White space, then a bracket or separator, a string, or a number or literal. */
const TOKEN = new RegExp(String.raw`[ \t\n\r]*(?:([{}[\],:])|(${STRING})|(${NUMBER}|true|false|null))`, "uy");

type Token = "{" | "[" | "}" | "]" | "," | ":" | "string" | "plain";

interface Expectation {
  tokens: readonly Token[];
  words: string;
}

const VALUE: Expectation = { tokens: ["{", "[", "string", "plain"], words: "a value" };
const VALUE_OR_END: Expectation = { tokens: [...VALUE.tokens, "]"], words: 'a value or "]"' };
const NAME: Expectation = { tokens: ["string"], words: "a name in double quotes" };
const NAME_OR_END: Expectation = { tokens: ["string", "}"], words: 'a name in double quotes or "}"' };
const COLON: Expectation = { tokens: [":"], words: '":"' };
const MORE_OF_OBJECT: Expectation = { tokens: [",", "}"], words: '"," or "}"' };
const MORE_OF_LIST: Expectation = { tokens: [",", "]"], words: '"," or "]"' };
const END: Expectation = { tokens: [], words: "the end of the text" };

/** `Line 2, column 12: expected "," or "}", received "x"`; undefined if the text is JSON. */
export function jsonMistake(text: string): string | undefined {
  const open: ("{" | "[")[] = [];
  let expected = VALUE;
  let place = 0;
  for (;;) {
    TOKEN.lastIndex = place;
    const [found, mark, string] = TOKEN.exec(text) ?? [];
    const token = (mark ?? (string === undefined ? "plain" : "string")) as Token;
    if (found === undefined || !expected.tokens.includes(token)) break;
    place += found.length;
    if (token === "{" || token === "[") open.push(token);
    if (token === "}" || token === "]") open.pop();
    expected = after(token, expected, open.at(-1));
  }
  const start = place + (/^[ \t\n\r]*/.exec(text.slice(place))?.[0].length ?? 0);
  return expected === END && start === text.length ? undefined : mistakeAt(text, start, expected);
}

/** The tokens that may follow a token. `bracket` is the innermost bracket that is open after the token. */
function after(token: Token, expected: Expectation, bracket: "{" | "[" | undefined): Expectation {
  if (token === "{") return NAME_OR_END;
  if (token === "[") return VALUE_OR_END;
  if (token === ":") return VALUE;
  if (token === ",") return bracket === "{" ? NAME : VALUE;
  if (expected === NAME || (expected === NAME_OR_END && token === "string")) return COLON;
  if (bracket === undefined) return END;
  return bracket === "{" ? MORE_OF_OBJECT : MORE_OF_LIST;
}

function mistakeAt(text: string, start: number, { tokens, words }: Expectation): string {
  const lines = text.slice(0, start).split("\n");
  const place = `Line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
  const rest = text.slice(start);
  if (rest === "") return `${place}: expected ${words}, received the end of the text`;
  if (rest.startsWith('"') && tokens.includes("string"))
    return `${place}: this string has no closing quote on its line, or an invalid escape`;
  const [received = ""] = /^(?:[\w.+-]{1,20}|[\s\S])/u.exec(rest) ?? [];
  return `${place}: expected ${words}, received ${received === '"' ? "a string" : JSON.stringify(received)}`;
}
