// Shows the dashboard's styles, which are escape sequences in the text, as elements with classes.

import { STYLE_CODES } from "../text/style.ts";

/** For each code that begins a style: its class, and the code that ends the style. */
const STYLES = new Map(
  Object.entries(STYLE_CODES).map(([name, [on, off]]) => [`\x1b[${on}m`, { name, off: `\x1b[${off}m` }]),
);

/** In characters. It is wider than any line of a detail, because the browser wraps lines itself. */
export const WIDTH = 600;

interface StyledPiece {
  text: string;
  classes: string;
}

export function piecesOf(styled: string): StyledPiece[] {
  const pieces: StyledPiece[] = [];
  let styles: { name: string; off: string }[] = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with an escape character.
  for (const part of styled.split(/(\x1b\[\d+m)/)) {
    const begun = STYLES.get(part);
    if (begun) styles = [...styles, begun];
    else if (part.startsWith("\x1b[")) styles = styles.filter(({ off }) => off !== part);
    else if (part !== "") pieces.push({ text: part, classes: styles.map(({ name }) => name).join(" ") });
  }
  return pieces;
}

export const Pieces = ({ pieces }: { pieces: readonly StyledPiece[] }) => (
  <>
    {pieces.map(({ text, classes }, index) => (
      <span key={index} class={classes}>
        <Text text={text} />
      </span>
    ))}
  </>
);

const BLOCKS = " ▁▂▃▄▅▆▇█";

/** A text in which blocks are drawn as elements of one character's width. */
export const Text = ({ text }: { text: string }) => (
  <>
    {text.split(/([▁-█░][▁-█░ ]*)/).map((part, index) => (index % 2 === 0 ? part : <Bar key={index} blocks={part} />))}
  </>
);

const Bar = ({ blocks }: { blocks: string }) => (
  <span class="bar">
    {[...blocks].map((block, index) => (
      <span
        key={index}
        style={block === "░" ? "height: 100%; opacity: 0.3" : `height: ${12.5 * BLOCKS.indexOf(block)}%`}
      />
    ))}
  </span>
);

export const StyledText = ({ text }: { text: string }) => <Pieces pieces={piecesOf(text)} />;

export const StyledLines = ({ lines }: { lines: readonly string[] }) => (
  <>
    {lines.map((line, index) => (
      <div key={index} class="text-line">
        <StyledText text={line} />
      </div>
    ))}
  </>
);
