// A list of names with their texts: headers, fields of a body, responses.

import type { ComponentChildren } from "preact";

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
