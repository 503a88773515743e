// The places that the palette finds: a row by its id, and the rows of an event type, an operation, a path or a record.

import type { SandboxAssumptionsReply } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { withFilter } from "../../state/list.ts";
import type { KeyBinding, Overlay, StateUpdate, UiState } from "../../state/state.ts";
import { listOf } from "../../state/state.ts";
import { callEffect, openOverlay, update, withList } from "../../state/updates.ts";
import { plural } from "../../text/format.ts";
import { paragraph } from "../details/detail-lines.ts";
import { isRecordId, recordReference } from "../details/record-links.ts";
import { textOverlay } from "../overlays/text-view.ts";
import { openReference } from "./detail-keys.ts";
import { followedMerchant } from "./follow-merchant.ts";

/** The pane of each kind of id. */
const PANES: Readonly<Record<string, string>> = {
  req: "requests",
  whd: "deliveries",
  evt: "events",
  we: "endpoints",
  flt: "faults",
  vdt: "verdicts",
  mer: "merchants",
};

const place = (help: string, run: (state: UiState) => StateUpdate): KeyBinding => ({ keys: [], help, run });

const filtered = (help: string, pane: string, filter: string) =>
  place(help, (state) =>
    update(
      { ...withList(state, pane, withFilter(listOf(state, pane), filter)), pane },
      { kind: "subscribe" },
      { kind: "refresh" },
    ),
  );

/**
 * The details of a record, and the requests and events that name the record in their path, summary or body. If several
 * merchants have a record with this id, the followed merchant's record is shown.
 */
const placesOfRecord = (id: string) => [
  place(`go to ${id}, with everything that touched it`, (state) =>
    openReference(state, recordReference(id, followedMerchant(state))),
  ),
  filtered(`requests of ${id}`, "requests", id),
  filtered(`events of ${id}`, "events", id),
];

/** Shows the assumptions of one operation, or all assumptions, with their values and reasons. */
const assumptionsPlace = (operation?: string) =>
  place(operation ? `assumptions of ${operation}` : "assumptions: what the documentation leaves open", (state) =>
    update(
      state,
      callEffect(controlCalls.assumptions({ ...(operation && { operation }) }), (later, { body }) => {
        const assumed = body.facts.filter(({ origin }) => origin === "assumed");
        const title = `${plural(assumed.length, "assumption")}${operation ? ` of ${operation}` : ""}`;
        return update(openOverlay(later, assumptionsOverlay(title, assumed)));
      }),
    ),
  );

/** Each assumption with its value, and below it the reason. */
function assumptionsOverlay(title: string, facts: SandboxAssumptionsReply["facts"]): Overlay {
  const shown = facts.map(({ id, value, why = "" }) => ({
    fact: `${id}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
    why,
  }));
  const text = shown.map(({ fact, why }) => `${fact}\n${why === "" ? "" : `  ${why}\n`}`).join("\n");
  return {
    ...textOverlay(title, text),
    lines: ({ theme }, width) =>
      shown.flatMap(({ fact, why }) => [
        ...paragraph(theme, width, fact).map((line, index) => (index === 0 ? line.trimStart() : line)),
        ...(why === "" ? [] : paragraph(theme, width, why, "dim")),
        "",
      ]),
  };
}

export function placesFor({ lookups }: UiState, search: string): readonly KeyBinding[] {
  if (search.startsWith("/")) return [filtered(`requests with the path ${search}`, "requests", `path:${search}`)];
  const [, prefix] = /^([a-z]+)_[\w-]+$/i.exec(search) ?? [];
  const pane = PANES[prefix ?? ""];
  if (pane) return [place(`go to ${search}`, (state) => openReference({ ...state, pane }, { pane, id: search }))];
  const matching = (names: readonly string[] = []) =>
    search.length < 3 ? [] : names.filter((name) => name.includes(search));
  return [
    ...(search.length >= 3 && "assumptions".startsWith(search) ? [assumptionsPlace()] : []),
    ...matching(lookups.eventTypes).map((type) => filtered(`deliveries of ${type}`, "deliveries", `event:${type}`)),
    ...matching(lookups.operations).flatMap((id) => [
      filtered(`requests of ${id}`, "requests", `operation:${id}`),
      assumptionsPlace(id),
    ]),
    ...(isRecordId(search) ? placesOfRecord(search) : []),
  ];
}
