// Draws the screen of a terminal emulator as SVG, cell by cell, in the colours of a dark or a light terminal (One Dark,
// One Light).

const CELL = { width: 8.4, height: 18 };
const EDGE = 16;
const BAR = 30;
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
export const PALETTES = {
  dark: {
    paper: "#282c34",
    ink: "#dcdfe4",
    colours: (
      "#282c34 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #dcdfe4 " +
      "#5a6374 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #ffffff"
    ).split(" "),
  },
  light: {
    paper: "#fafafa",
    ink: "#383a42",
    colours: (
      "#383a42 #e45649 #50a14f #c18301 #0184bc #a626a4 #0997b3 #fafafa " +
      "#4f525d #df6c75 #98c379 #e4c07a #61afef #c577dd #56b5c1 #ffffff"
    ).split(" "),
  },
};

/** `terminal` is a terminal of @xterm/headless; `shade` is `dark` or `light`. */
export function screenPicture(terminal, title, shade) {
  const palette = PALETTES[shade];
  const { cols, rows } = terminal;
  const width = Math.ceil(cols * CELL.width + 2 * EDGE);
  const height = Math.ceil(rows * CELL.height + 2 * EDGE + BAR);
  const lines = Array.from({ length: rows }, (_, row) =>
    runsOf(terminal.buffer.active, row, cols).map((run) => drawn(run, row, palette)),
  );
  // Draws all backgrounds before any text, because the descenders of letters reach into the next line.
  const grounds = lines.map((runs) => runs.map(({ ground }) => ground).join(""));
  const texts = lines.map((runs) => runs.map(({ text }) => text).join(""));
  const dots = ["#f07178", "#ffcb6b", "#a6cc70"].map(
    (colour, index) => `<circle cx="${EDGE + 6 + index * 18}" cy="${BAR / 2 + 4}" r="5.5" fill="${colour}"/>`,
  );
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" rx="9" fill="${palette.paper}"/>
${dots.join("")}
<g font-family="${FONT}" font-size="14" fill="${palette.ink}">
${[...grounds, ...texts].filter((line) => line !== "").join("\n")}
</g>
</svg>
`;
}

/** Joins neighbouring cells of the same style. */
function runsOf(buffer, row, cols) {
  const line = buffer.getLine(buffer.viewportY + row);
  const runs = [];
  for (let column = 0; column < cols; column++) {
    const cell = line?.getCell(column);
    if (!cell || cell.getWidth() === 0) continue;
    const look = lookOf(cell);
    const last = runs.at(-1);
    if (last?.look === look) last.text += cell.getChars() || " ";
    else runs.push({ look, column, text: cell.getChars() || " ", ...styleOf(cell) });
    runs.at(-1).end = column + cell.getWidth();
  }
  return runs;
}

const lookOf = (cell) =>
  [
    cell.isFgDefault() ? -1 : cell.getFgColor(),
    cell.isBgDefault() ? -1 : cell.getBgColor(),
    cell.isBold(),
    cell.isDim(),
    cell.isInverse(),
  ].join();

const styleOf = (cell) => ({
  front: cell.isFgDefault() ? undefined : cell.getFgColor(),
  back: cell.isBgDefault() ? undefined : cell.getBgColor(),
  bold: cell.isBold() !== 0,
  dim: cell.isDim() !== 0,
  inverse: cell.isInverse() !== 0,
});

/** The SVG of one run of cells. The inverse attribute swaps the colours of text and background. */
function drawn({ column, end, text, front, back, bold, dim, inverse }, row, { paper, ink, colours }) {
  const swap = (one, other) => (inverse ? [other, one] : [one, other]);
  const [colour, ground] = swap(colourOf(colours, front) ?? ink, colourOf(colours, back) ?? paper);
  if (text.trim() === "" && ground === paper) return { ground: "", text: "" };
  const x = round(EDGE + column * CELL.width);
  const y = BAR + EDGE + row * CELL.height;
  const wide = round((end - column) * CELL.width);
  const rect =
    ground === paper
      ? ""
      : `<rect x="${x}" y="${round(y - 0.5)}" width="${wide}" height="${CELL.height}" fill="${ground}"/>`;
  const style =
    `${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.6"' : ""}` +
    `${colour === ink ? "" : ` fill="${colour}"`}`;
  return {
    ground: rect,
    text: `<text x="${x}" y="${round(y + 13.5)}" textLength="${wide}"${style}>${escaped(text)}</text>`,
  };
}

/** One of the 16 colours of the palette, or one of the 216 colours of the cube that follow. */
function colourOf(colours, index) {
  if (index === undefined || index < 16) return colours[index];
  const levels = ["00", "5f", "87", "af", "d7", "ff"];
  return `#${[36, 6, 1].map((step) => levels[Math.floor((index - 16) / step) % 6]).join("")}`;
}

const round = (value) => Math.round(value * 10) / 10;
// A space that renderers neither drop nor collapse.
const escaped = (text) =>
  text.replaceAll(" ", "\u00a0").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
