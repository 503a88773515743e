// Components that several views share: heads of lists, details and dialogs, buttons that name their key, and names with
// their texts.

import type { ComponentChildren } from "preact";
import { type KeyBinding, labelIn } from "../state/state.ts";
import type { DashboardProps } from "./browser-dashboard.ts";

type HeadProps = { title: string; note?: string; onClose?(): void; children?: ComponentChildren };

export const Head = ({ title, note, onClose, children }: HeadProps) => (
  <div class="head">
    <h2>{title}</h2>
    {note && <span class="note">{note.replaceAll("  ", " · ")}</span>}
    {children}
    {onClose && (
      <button type="button" class="quiet" aria-label="Esc: close" onClick={onClose}>
        <kbd>Esc</kbd>
      </button>
    )}
  </div>
);

/** A button for each binding with a label; `primary` is the key of the most important one. */
export const KeyButtons = ({
  dashboard,
  keys,
  primary,
}: DashboardProps & { keys: readonly KeyBinding[]; primary: string | undefined }) => (
  <div class="actions">
    {keys
      .filter((binding) => labelIn(dashboard.state, binding) !== undefined)
      .map(({ keys: [key = ""], label, help, run }) => (
        <button
          key={key}
          type="button"
          class={key === primary ? "primary" : ""}
          title={help}
          onClick={() => dashboard.change(run)}
        >
          {labelIn(dashboard.state, { label })} <kbd>{key}</kbd>
        </button>
      ))}
  </div>
);

/** Shows the parts of a text between backticks as code. */
export const WithCode = ({ text }: { text: string }) => (
  <>{text.split("`").map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece))}</>
);

/** `note` is shown beside the name. */
export const Definitions = ({
  rows,
}: {
  rows: readonly { name: string; note?: ComponentChildren; text: ComponentChildren }[];
}) => (
  <dl>
    {rows.map(({ name, note, text }) => (
      <div key={name}>
        <dt>
          <code>{name}</code> {note}
        </dt>
        <dd>{text}</dd>
      </div>
    ))}
  </dl>
);
