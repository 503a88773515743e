// The overlays of the page: forms, the command palette, confirmations and texts such as the help.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { isDetail } from "../panes/overlays/detail.ts";
import { isForm } from "../panes/overlays/form.ts";
import { isPalette, type PaletteOverlay, paletteOverlay, runCommand } from "../panes/overlays/key-lists.ts";
import type { Overlay } from "../state/state.ts";
import { closeTopOverlay, replaceTopOverlay, topOverlay, update } from "../state/updates.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import { FormDialog } from "./form-dialog.tsx";
import { SEARCH_KEYS } from "./keyboard.ts";
import { Head, KeyButtons } from "./shared-parts.tsx";
import { StyledLines } from "./styled-text.tsx";

/** A modal dialog, which keeps the focus inside. The dashboard handles Esc. */
export function OverlayView({ dashboard }: DashboardProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const overlay = topOverlay(dashboard.state);
  const shown = overlay && !isDetail(overlay) ? overlay : undefined;
  // A layout effect runs before the browser paints, so the next key already goes to the dialog.
  useLayoutEffect(() => {
    if (!shown) dialog.current?.close();
    else if (!dialog.current?.open) dialog.current?.showModal();
    // Without this, the browser would focus the button in the head.
    dialog.current?.querySelector<HTMLElement>("input, select, .text")?.focus();
  }, [shown?.title]);
  const close = () => dashboard.change((before) => update(closeTopOverlay(before)));
  return (
    <dialog
      ref={dialog}
      aria-label={shown?.title ?? "Dialog"}
      onCancel={(event) => event.preventDefault()}
      onClick={(event) => event.target === dialog.current && close()}
    >
      {isPalette(shown) && <PaletteView dashboard={dashboard} overlay={shown} />}
      {shown && !isPalette(shown) && (
        <>
          <Head title={shown.title} onClose={close} />
          {isForm(shown) ? <FormDialog dashboard={dashboard} /> : <TextView dashboard={dashboard} overlay={shown} />}
        </>
      )}
    </dialog>
  );
}

export const widthOfText = () => Math.max(36, Math.min(92, Math.floor((innerWidth - 90) / 7.3)));

function TextView({ dashboard, overlay }: DashboardProps & { overlay: Overlay }) {
  return (
    <>
      <pre class="text" tabIndex={0}>
        <StyledLines lines={overlay.lines(dashboard.state, widthOfText())} />
      </pre>
      <KeyButtons dashboard={dashboard} keys={overlay.keys} primary={overlay.keys[0]?.keys[0]} />
    </>
  );
}

function PaletteView({ dashboard, overlay }: DashboardProps & { overlay: PaletteOverlay }) {
  const { commands, search, found, chosen } = overlay.palette;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  const write = (text: string) =>
    dashboard.change((before) => update(replaceTopOverlay(before, paletteOverlay(commands, text))));
  return (
    <div class="palette">
      <input
        role="combobox"
        aria-label="Find a command"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={`command-${chosen}`}
        placeholder="Find a command, an id, an event or a path"
        value={search}
        onInput={({ currentTarget: { value } }) => write(value)}
        data-keys={SEARCH_KEYS}
        spellcheck={false}
      />
      <div id="commands" class="commands" role="listbox" aria-label="Commands" ref={list}>
        {found.map((binding, index) => (
          <div
            key={`${binding.keys} ${binding.help}`}
            id={`command-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => dashboard.change((before) => runCommand(before, binding))}
          >
            <span>{binding.help}</span>
            <span class="shortcut">
              {binding.keys.slice(0, 2).map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="hint">No command matches {search}.</p>}
    </div>
  );
}
