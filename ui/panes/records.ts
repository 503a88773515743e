// The details of a record, with a timeline of everything that touched the record. They have no tab; links and the
// palette open them.

import type { Timeline, TimelineStep } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { mask } from "../../src/kernel/mask.ts";
import { byteLength } from "../../src/kernel/text.ts";
import type { UiState } from "../state/state.ts";
import { copyText } from "../state/updates.ts";
import { dateTimeToSecond, milliseconds } from "../text/format.ts";
import { styled, symbols } from "../text/style.ts";
import { type DetailLine, type DetailWriter, linkTo, STEP_PANES } from "./details/detail-lines.ts";
import { partsOfReference, RECORDS_PANE, recordLinks, recordReference } from "./details/record-links.ts";
import { areOutdated } from "./details/trace.ts";
import type { Detail } from "./overlays/detail.ts";
import { listPane, readAs } from "./pane.ts";

const MOST_STEPS = 100;

const timelineCall = (reference: string) =>
  controlCalls.timelines.get({ ...partsOfReference(reference), limit: MOST_STEPS });

const bodyOf = ({ record }: Timeline) => JSON.stringify(record ?? {});

const recordDetail = (opened: Timeline): Detail<{ newest: Timeline }> => {
  const call = timelineCall(recordReference(opened.id, opened.merchant).id);
  return {
    title: `Record ${opened.id}`,
    outdated: ({ newest = opened }, state) => (areOutdated(state, newest.steps) ? { newest: call } : {}),
    lines: ({ newest = opened }, write, state) => recordLines(newest, write, state),
  };
};

export const records = listPane<Timeline>({
  name: RECORDS_PANE,
  title: "Records",
  isShown: () => false,
  rowId: ({ id, merchant }) => recordReference(id, merchant).id,
  filterBy: ({ id }) => ({ text: id, fields: {} }),
  columns: () => [],
  emptyText: () => [],
  detail: recordDetail,
  fetchRow: (reference) => readAs(timelineCall(reference), (timeline) => timeline),
  keys: [
    {
      keys: ["Y"],
      label: "copy body",
      help: "copy the record",
      isEnabled: (_, { record }) => record !== null,
      needs: "a record that exists",
      run: (state, timeline) => copyText(state, bodyOf(timeline), `the record ${timeline.id}`),
    },
  ],
});

function recordLines(timeline: Timeline, write: DetailWriter, state: UiState): DetailLine[] {
  const { id, merchant, record, others, next, steps, has_more: hasMore } = timeline;
  const { band, field, section, body, text } = write;
  const { good, bad } = symbols(state.theme);
  const status = record?.status ?? "";
  const top = record
    ? band(`${good} ${[record.object, id, status].filter((part) => part !== "").join(" ")}`, false)
    : band(`${bad} No record has the id ${id} now; the logs still name it`, true);
  const references = Object.entries(timeline.references).flatMap(([name, value]) =>
    recordLinks(write, name, [value], merchant),
  );
  const namesakes = others.flatMap((one) => {
    const { pane, id: reference } = recordReference(id, one);
    return linkTo(pane, reference, field("also in", one));
  });
  const newest = hasMore ? `, the newest ${steps.length}` : "";
  return [
    ...top,
    ...(record ? [""] : []),
    ...(merchant === null ? [] : linkTo("merchants", merchant, field("merchant", merchant))),
    ...field("created", record && dateTimeToSecond(Number(record.created) * 1_000)),
    ...field("next change", next && `${dateTimeToSecond(milliseconds(next.at))} sandbox time: ${next.status}`),
    ...references,
    ...namesakes,
    ...section(
      `Timeline, newest first${newest}`,
      steps.length === 0
        ? text("Nothing in the logs has touched it. It is from the fixture.", "dim")
        : steps.flatMap((step) => stepLines(step, write)),
    ),
    ...(record ? section("Record", body(bodyOf(timeline), byteLength(bodyOf(timeline)))) : []),
  ];
}

/** `09:12:44  request   POST /v1/payments  201 pay_1 succeeded`. */
function stepLines(
  { kind, id, at, text, result, failed }: TimelineStep,
  { theme, text: paragraph }: DetailWriter,
): DetailLine[] {
  const { good, bad } = symbols(theme);
  const marks = { request: failed ? bad : good, delivery: failed ? bad : good, event: " ", clock: " " };
  const time = dateTimeToSecond(milliseconds(at)).slice(5);
  const lines = paragraph(
    `${time}  ${marks[kind]} ${kind.padEnd(8)}  ${mask(text)}${result === null ? "" : `  ${result}`}`,
  );
  return linkTo(STEP_PANES[kind], id, failed ? lines.map((line) => styled(theme, line, "failure")) : lines);
}
