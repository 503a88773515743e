// The whole screen as Ink lays it out: blocks of ready lines. Each is one piece of text, so that a frame costs what changed, not what is shown.

import { Box, Text, Transform } from "ink";
import { keyBar, saidLine, statusLine, tabLine } from "./chrome.ts";
import { frame } from "./frame.ts";
import { LEAST, layoutOf, type Place } from "./layout.ts";
import { paneLines } from "./pane-view.ts";
import { paneNamed } from "./panes/index.ts";
import { overlayOf, type State } from "./state/state.ts";
import { fill, padded } from "./terminal/cells.ts";

export function App({ state }: { state: State }) {
  const { size } = state;
  const layout = layoutOf(state);
  if (layout.shape === "small") return <TooSmall state={state} />;
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Block lines={[statusLine(state), ...(layout.shape === "tabs" ? [tabLine(state)] : [])]} width={size.columns} />
      {overlayOf(state) ? <Over state={state} /> : <Panes state={state} />}
      <Block lines={[saidLine(state), keyBar(state)]} width={size.columns} />
    </Box>
  );
}

function Panes({ state }: { state: State }) {
  const { left, right, below } = layoutOf(state);
  return (
    <>
      <Box>
        <Column state={state} places={left} />
        <Column state={state} places={right} />
      </Box>
      {below && <PaneBlock state={state} place={below} />}
    </>
  );
}

const Column = ({ state, places }: { state: State; places: readonly Place[] }) => (
  <Box flexDirection="column">
    {places.map((place) => (
      <PaneBlock key={place.pane} state={state} place={place} />
    ))}
  </Box>
);

const PaneBlock = ({ state, place }: { state: State; place: Place }) => (
  <Block lines={paneLines(state, paneNamed(place.pane), place)} width={place.width} />
);

/** What lies over the panes takes their whole room. */
function Over({ state }: { state: State }) {
  const { overlay: room } = layoutOf(state);
  const overlay = overlayOf(state);
  if (!overlay) return null;
  const { height } = room;
  const lines = overlay.lines(state, room.width - 4);
  const top = Math.max(0, Math.min(overlay.scroll, lines.length - (height - 2)));
  const seen = lines.slice(top, top + height - 2).map((line) => ` ${padded(line, room.width - 4)} `);
  const mark = lines.length > height - 2 ? `${top + 1}-${top + seen.length} of ${lines.length}` : "";
  return (
    <Block
      lines={frame(state.look, { title: overlay.title, mark, lines: seen, width: room.width, height, focused: true })}
      width={room.width}
    />
  );
}

function TooSmall({ state }: { state: State }) {
  const { columns, rows } = state.size;
  const words = `${columns}x${rows} is too small; ${LEAST.columns}x${LEAST.rows} is needed. q quits.`;
  return <Block lines={[fill(words, columns)]} width={columns} />;
}

/** Lines of exactly this width, put where the layout says. What Ink measures is a stand-in that never changes. */
function Block({ lines, width }: { lines: readonly string[]; width: number }) {
  return (
    <Transform transform={(_, index) => lines[index] ?? ""}>
      <Text>{standIn(width, lines.length)}</Text>
    </Transform>
  );
}

const standIns = new Map<string, string>();

function standIn(width: number, height: number): string {
  const size = `${width}x${height}`;
  const known = standIns.get(size) ?? Array(height).fill("x".repeat(width)).join("\n");
  standIns.set(size, known);
  return known;
}
