// Draws the screen of a terminal emulator as SVG, cell by cell, in colours that work on light and dark pages.

const CELL = { width: 8.4, height: 18 };
const EDGE = 16;
const BAR = 30;
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const PAPER = "#14161b";
const INK = "#d5d9e0";
const COLOURS = ["#5c6370", "#f07178", "#a6cc70", "#ffcb6b", "#6cb6ff", "#d19afa", "#56d4dd", INK];

/** `terminal` is a terminal of @xterm/headless. */
export function screenPicture(terminal, title) {
  const { cols, rows } = terminal;
  const width = Math.ceil(cols * CELL.width + 2 * EDGE);
  const height = Math.ceil(rows * CELL.height + 2 * EDGE + BAR);
  const lines = Array.from({ length: rows }, (_, row) =>
    runsOf(terminal.buffer.active, row, cols)
      .map((run) => drawn(run, row))
      .join(""),
  );
  const dots = ["#f07178", "#ffcb6b", "#a6cc70"].map(
    (colour, index) => `<circle cx="${EDGE + 6 + index * 18}" cy="${BAR / 2 + 4}" r="5.5" fill="${colour}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" rx="9" fill="${PAPER}"/>
${dots.join("")}
<g font-family="${FONT}" font-size="14" fill="${INK}">
${lines.filter((line) => line !== "").join("\n")}
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

const lookOf = (cell) => [cell.isFgDefault() ? -1 : cell.getFgColor(), cell.isBold(), cell.isDim(), cell.isInverse()].join();

const styleOf = (cell) => ({
  colour: cell.isFgDefault() ? INK : (COLOURS[cell.getFgColor() % 8] ?? INK),
  bold: cell.isBold() !== 0,
  dim: cell.isDim() !== 0,
  inverse: cell.isInverse() !== 0,
});

function drawn({ column, end, text, colour, bold, dim, inverse }, row) {
  if (text.trim() === "" && !inverse) return "";
  const x = EDGE + column * CELL.width;
  const y = BAR + EDGE + row * CELL.height;
  const wide = (end - column) * CELL.width;
  const back = inverse ? `<rect x="${round(x)}" y="${round(y - 0.5)}" width="${round(wide)}" height="${CELL.height}" fill="#2f3542"/>` : "";
  const style = `${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.6"' : ""}${colour === INK ? "" : ` fill="${colour}"`}`;
  return `${back}<text x="${round(x)}" y="${round(y + 13.5)}" textLength="${round(wide)}"${style}>${escaped(text)}</text>`;
}

const round = (value) => Math.round(value * 10) / 10;
// A space that renderers neither drop nor collapse.
const escaped = (text) => text.replaceAll(" ", "\u00a0").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
