// The pane of faults: which rules are armed, and what is left of each.

import type { RuleState } from "../../src/kernel/fault.ts";
import { plain } from "../details/text.ts";
import { openDetail } from "../overlays/detail.ts";
import type { Tone } from "../terminal/style.ts";
import { pane } from "./pane.ts";

export const faults = pane<RuleState>({
  name: "faults",
  title: "Faults",
  id: ({ id }) => id,
  facts: ({ id, name, status, target, action }) => ({
    text: `${id} ${name ?? ""} ${action.type} ${status}`,
    fields: { id, status, target, action: action.type },
  }),
  asks: { call: { method: "GET", path: "/faults" }, values: (answer) => (answer as { data: RuleState[] }).data },
  cells({ id, name, action, status, fired, remaining }) {
    return [
      { text: status, width: 7, tones: statusTone(status) },
      { text: `${action.type} ${name ?? id}` },
      { text: `fired ${fired}`, width: 9, align: "right" },
      { text: remaining === null ? "" : `${remaining} left`, width: 8, align: "right" },
    ];
  },
  empty: () => ["No faults: everything works.", "x arms one."],
  detail: (_, rule) =>
    openDetail({ title: `Fault ${rule.id}`, asks: {}, lines: (_known, _state, width) => plain(JSON.stringify(rule, null, 2), width) }),
});

const statusTone = (status: RuleState["status"]): Tone[] => (status === "armed" ? ["magenta"] : ["dim"]);
