// Shows the dashboard's styles, which are escape sequences in the text, as elements with classes.

import { STYLE_CODES } from "../view/style.ts";

/** For each code that begins a style: its class, and the code that ends the style. */
const STYLES = new Map(Object.entries(STYLE_CODES).map(([name, [on, off]]) => [`\x1b[${on}m`, { name, off: `\x1b[${off}m` }]));

export interface StyledPiece {
  text: string;
  classes: string;
}

export function piecesOf(styled: string): StyledPiece[] {
  const pieces: StyledPiece[] = [];
  let styles: { name: string; off: string }[] = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with one.
  for (const part of styled.split(/(\x1b\[\d+m)/)) {
    const begun = STYLES.get(part);
    if (begun) styles = [...styles, begun];
    else if (part.startsWith("\x1b[")) styles = styles.filter(({ off }) => off !== part);
    else if (part !== "") pieces.push({ text: part, classes: styles.map(({ name }) => name).join(" ") });
  }
  return pieces;
}

export const StyledText = ({ text }: { text: string }) => (
  <>
    {piecesOf(text).map(({ text: piece, classes }, index) =>
      classes === "" ? (
        piece
      ) : (
        <span key={index} class={classes}>
          {piece}
        </span>
      ),
    )}
  </>
);

/** Blocks after blanks, or before empty blocks: the parts of a bar. */
const BAR = /^( *)(█*)(░*) *$/;

/** A bar of the terminal as an element; undefined for other text. `room` is its whole width in characters. Default: the bar's own. */
export function barOf(text: string, room = text.length) {
  const [, before = "", filled = ""] = BAR.exec(text) ?? [];
  if (!/[█░]/.test(text) || !BAR.test(text)) return undefined;
  const share = (length: number) => `${(100 * length) / room}%`;
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ marginLeft: share(before.length), width: share(filled.length) }} />
    </span>
  );
}

export const StyledLines = ({ lines }: { lines: readonly string[] }) => (
  <>
    {lines.map((line, index) => (
      <div key={index} class="text-line">
        <StyledText text={line} />
      </div>
    ))}
  </>
);
