// Shows the dashboard's styles, which are escape sequences in the text, as elements with classes.

/** The codes that begin a style, and the class of each. `failure` is the pair of onBlack and brightWhite. */
const CLASSES: Readonly<Record<string, string>> = {
  1: "bold",
  2: "dim",
  7: "inverse",
  31: "red",
  32: "green",
  33: "yellow",
  34: "blue",
  35: "magenta",
  36: "cyan",
  40: "failure",
};

const ENDED_BY: Readonly<Record<string, readonly string[]>> = {
  22: ["bold", "dim"],
  27: ["inverse"],
  39: ["red", "green", "yellow", "blue", "magenta", "cyan"],
  49: ["failure"],
};

export interface StyledPiece {
  text: string;
  classes: string;
}

export function piecesOf(styled: string): StyledPiece[] {
  const pieces: StyledPiece[] = [];
  let classes: string[] = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with one.
  for (const part of styled.split(/(\x1b\[\d+m)/)) {
    const code = part.startsWith("\x1b[") ? part.slice(2, -1) : undefined;
    const begun = code && CLASSES[code];
    if (begun) classes = [...classes, begun];
    else if (code !== undefined) classes = classes.filter((one) => !ENDED_BY[code]?.includes(one));
    else if (part !== "") pieces.push({ text: part, classes: classes.join(" ") });
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

export const StyledLines = ({ lines }: { lines: readonly string[] }) => (
  <>
    {lines.map((line, index) => (
      <div key={index} class="text-line">
        <StyledText text={line} />
      </div>
    ))}
  </>
);
