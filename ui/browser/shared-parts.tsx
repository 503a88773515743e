// Components that several views share: heads of lists, details and dialogs, buttons that name their key, and names with their texts.

import type { ComponentChildren } from "preact";

interface HeadProps {
  title: string;
  /** Shown beside the title, if it is not empty. */
  note?: string;
}

const Note = ({ note = "" }: Pick<HeadProps, "note">) => (note === "" ? null : <span class="note">{note}</span>);

export const ListHead = ({ title, note, children }: HeadProps & { children?: ComponentChildren }) => (
  <div class="list-head">
    <h2>{title}</h2>
    <Note note={note} />
    {children}
  </div>
);

export const ClosableHead = ({ title, note, onClose }: HeadProps & { onClose(): void }) => (
  <div class="detail-head">
    <h2>{title}</h2>
    <Note note={note} />
    <button type="button" class="quiet" aria-label="Esc: close" onClick={onClose}>
      <kbd>Esc</kbd>
    </button>
  </div>
);

interface KeyActionProps {
  /** The key. */
  name: string;
  title: string;
  isPrimary: boolean;
  onClick(): void;
  children: ComponentChildren;
}

export const KeyAction = ({ name, title, isPrimary, onClick, children }: KeyActionProps) => (
  <button type="button" class={isPrimary ? "primary" : ""} title={title} onClick={onClick}>
    {children} <kbd>{name}</kbd>
  </button>
);

interface Definition {
  name: string;
  /** Shown beside the name. */
  note?: ComponentChildren;
  text: ComponentChildren;
}

export const Definitions = ({ rows }: { rows: readonly Definition[] }) => (
  <dl>
    {rows.map(({ name, note, text }) => (
      <div key={name}>
        <dt>
          <code>{name}</code>
          {note}
        </dt>
        <dd>{text}</dd>
      </div>
    ))}
  </dl>
);
