// The screen as Ink lays it out: slots of exact sizes. Their text is put in afterwards, so a frame costs its lines and not its cells.

import { Box, type DOMElement } from "ink";
import type { Size } from "./state/state.ts";
import type { Layout, PanePlacement } from "./view/layout.ts";

/** The slots on the screen, by name. */
export type Slots = Map<string, DOMElement>;

export interface ScreenLayout {
  size: Size;
  layout: Layout;
  hasOverlay: boolean;
}

interface AppProps extends ScreenLayout {
  slots: Slots;
}

export function App({ size, layout, hasOverlay, slots }: AppProps) {
  const bar = (name: string) => <Slot slots={slots} name={name} width={size.columns} height={1} />;
  if (layout.shape === "small") return bar("small");
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      {bar("status")}
      {layout.shape === "tabs" && bar("tabs")}
      {hasOverlay ? <Slot slots={slots} name="overlay" {...layout.overlay} /> : <Panes slots={slots} layout={layout} />}
      {bar("notice")}
      {bar("keys")}
    </Box>
  );
}

function Panes({ slots, layout: { left, right, below } }: { slots: Slots; layout: Layout }) {
  return (
    <>
      <Box>
        <Column slots={slots} placements={left} />
        <Column slots={slots} placements={right} />
      </Box>
      {below && <Column slots={slots} placements={[below]} />}
    </>
  );
}

const Column = ({ slots, placements }: { slots: Slots; placements: readonly PanePlacement[] }) => (
  <Box flexDirection="column">
    {placements.map(({ pane, width, height }) => (
      <Slot key={pane} slots={slots} name={pane} width={width} height={height} />
    ))}
  </Box>
);

function Slot({ slots, name, width, height }: { slots: Slots; name: string; width: number; height: number }) {
  const register = (node: DOMElement | null) => void (node ? slots.set(name, node) : slots.delete(name));
  return <Box ref={register} width={width} height={height} flexShrink={0} />;
}
