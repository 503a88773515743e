// Where everything stands, as Ink lays it out: slots of exact sizes. What is in them comes as ready lines, so that a frame costs its words, not its cells.

import { Box, type DOMElement } from "ink";
import type { Layout, Place } from "./layout.ts";
import type { Size } from "./state/state.ts";

/** The slots that stand on the screen now, by name. */
export type Slots = Map<string, DOMElement>;

export interface Arrangement {
  size: Size;
  layout: Layout;
  /** Whether something lies over the panes. */
  covered: boolean;
}

interface Given extends Arrangement {
  slots: Slots;
}

export function App({ size, layout, covered, slots }: Given) {
  const line = (name: string) => <Slot slots={slots} name={name} width={size.columns} height={1} />;
  if (layout.shape === "small") return line("small");
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      {line("status")}
      {layout.shape === "tabs" && line("tabs")}
      {covered ? <Slot slots={slots} name="overlay" {...layout.overlay} /> : <Panes slots={slots} layout={layout} />}
      {line("said")}
      {line("keys")}
    </Box>
  );
}

function Panes({ slots, layout: { left, right, below } }: { slots: Slots; layout: Layout }) {
  return (
    <>
      <Box>
        <Column slots={slots} places={left} />
        <Column slots={slots} places={right} />
      </Box>
      {below && <Column slots={slots} places={[below]} />}
    </>
  );
}

const Column = ({ slots, places }: { slots: Slots; places: readonly Place[] }) => (
  <Box flexDirection="column">
    {places.map(({ pane, width, height }) => (
      <Slot key={pane} slots={slots} name={pane} width={width} height={height} />
    ))}
  </Box>
);

function Slot({ slots, name, width, height }: { slots: Slots; name: string; width: number; height: number }) {
  const note = (node: DOMElement | null) => void (node ? slots.set(name, node) : slots.delete(name));
  return <Box ref={note} width={width} height={height} flexShrink={0} />;
}
