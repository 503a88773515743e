// The screen as components of Ink: bars, and between them the panes or an overlay. layout.ts computes their sizes; Ink
// places and draws them.

import { Writable } from "node:stream";
import { Box, render, Text, Transform } from "ink";
import { createElement, Fragment, useMemo } from "react";
import { type BoxSize, layoutOf, type PanePlacement } from "../state/layout.ts";
import type { UiState } from "../state/state.ts";
import { topOverlay } from "../state/updates.ts";
import { cut, toAscii, widthOf } from "../text/cells.ts";
import { styled, symbols, type Theme } from "../text/style.ts";
import { keyBar, noticeBar, statusBar, tabBar, tooSmall } from "../view/bars.ts";
import { type BoxContent, overlayContent, paneContent } from "../view/pane-content.ts";

export function App({ state }: { state: UiState }) {
  const { columns, rows } = state.size;
  const { shape, overlay } = layoutOf(state);
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      {shape === "small" ? (
        <Lines lines={tooSmall(state)} />
      ) : (
        <>
          <Lines lines={[statusBar(state), tabBar(state)]} />
          {topOverlay(state) ? (
            <TitledBox theme={state.theme} size={overlay} content={overlayContent(state, overlay)} />
          ) : (
            <Panes state={state} />
          )}
          <Lines lines={[noticeBar(state), keyBar(state)]} />
        </>
      )}
    </Box>
  );
}

function Panes({ state }: { state: UiState }) {
  const { left, right } = layoutOf(state);
  const stacked = (placements: readonly PanePlacement[]) => (
    <Box flexDirection="column">
      {placements.map((placed) => (
        <TitledBox key={placed.pane} theme={state.theme} size={placed} content={paneContent(state, placed)} />
      ))}
    </Box>
  );
  return (
    <Box>
      {stacked(left)}
      {stacked(right)}
    </Box>
  );
}

/** The cells of the top border that the title cannot use: the corners, and one more on each side. */
const TITLE_MARGIN = 4;
/** The title keeps at least this much of its line. */
const MIN_TITLE_WIDTH = 12;

/** The parts of a note that fit: leaves out the last ones, rather than cutting a number. */
function fittingParts(note: string, width: number): string {
  const [first = "", ...others] = note.split("  ");
  return others.reduce(
    (shown, part) => (widthOf(`${shown}  ${part}`) > width ? shown : `${shown}  ${part}`),
    cut(first, width),
  );
}

/**
 * A box with a title on its border. A focused box has a cursor before its title; a bare one has no border beside its
 * lines.
 */
function TitledBox({ theme, size: { width, height }, content }: { theme: Theme; size: BoxSize; content: BoxContent }) {
  const { title, note, lines, isFocused, isBare = false } = content;
  const room = width - TITLE_MARGIN;
  const right = note === "" ? "" : ` ${fittingParts(note, Math.max(0, room - MIN_TITLE_WIDTH))} `;
  const left = cut(` ${isFocused ? `${symbols(theme).cursor} ` : ""}${title} `, Math.max(0, room - widthOf(right)));
  const { unicode } = theme;
  // Memoized, because Ink forgets `borderLeft={false}` when only the border's style changes.
  const borderStyle = useMemo(() => border(unicode, isFocused), [unicode, isFocused]);
  return (
    <Box
      key={isBare ? "bare" : "framed"}
      flexDirection="column"
      flexShrink={0}
      width={width}
      height={height}
      borderStyle={borderStyle}
      borderLeft={!isBare}
      borderRight={!isBare}
    >
      <Box position="absolute" marginTop={-1} marginLeft={isBare ? 2 : 1} width={room} justifyContent="space-between">
        <Lines lines={[styled(theme, left, "bold")]} />
        <Box width={widthOf(right)}>
          <Lines lines={[right]} />
        </Box>
      </Box>
      <Box flexGrow={1} overflowY="hidden">
        <Lines lines={lines} />
      </Box>
    </Box>
  );
}

/**
 * A border that is bold if focused and dim otherwise. The first and the last character of each line turn the style on
 * and off.
 */
function border(unicode: boolean, isFocused: boolean) {
  const theme = { unicode, colours: false };
  const { horizontal, vertical, topLeft, topRight, bottomLeft, bottomRight } = symbols(theme);
  const [on = "", off = ""] = styled(theme, "\n", isFocused ? "bold" : "dim").split("\n");
  const side = on + vertical + off;
  return {
    topLeft: on + topLeft,
    top: horizontal,
    topRight: topRight + off,
    left: side,
    right: side,
    bottomLeft: on + bottomLeft,
    bottom: horizontal,
    bottomRight: bottomRight + off,
  };
}

/**
 * Draws lines of text. No line may be wider than the box.
 *
 * Trick:  Ink lays out a blank for each line, and the transform replaces it with the line.
 * Reason: Ink keeps every text that it has measured for as long as the program runs.
 * Figure: a thousand frames of new rows took 7.4 MB; with blanks they take none.
 */
const Lines = ({ lines }: { lines: readonly string[] }) => (
  <Transform transform={(_blank, index) => lines[index] ?? ""}>
    <Text>{Array.from(lines, () => " ").join("\n")}</Text>
  </Transform>
);

export type FrameRenderer = ReturnType<typeof createFrameRenderer>;

export function createFrameRenderer() {
  let frame = "";
  const write = (text: string, _encoding: string, done: () => void) => {
    frame = text;
    done();
  };
  const stdout = new Writable({ decodeStrings: false, write }) as Writable & NodeJS.WriteStream;
  // With `debug`, Ink writes each frame whole and at once, without escape sequences that move the cursor.
  const ink = render(createElement(Fragment), { stdout, debug: true, exitOnCtrlC: false, patchConsole: false });
  return {
    /** One string for each line of the screen. */
    render(state: UiState): string[] {
      Object.assign(stdout, state.size);
      ink.rerender(createElement(App, { state }));
      const lines = frame.split("\n");
      return state.theme.unicode ? lines : lines.map(toAscii);
    },
    close: () => ink.unmount(),
  };
}
