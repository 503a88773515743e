// JSON Schemas of what the command line prints as JSON, one object per line.

import { liveEvents, RequestMessage } from "../../contracts/live-messages.ts";
import { controlCatalogue } from "../../control/index.ts";
import { exitMeanings } from "../../kernel/errors.ts";
import { annotate } from "../../schema/assumed.ts";
import { nullable, oneOf, type TProperties, type TSchema, Type, timeText } from "../../schema/shapes.ts";

const text = Type.String();
const at = timeText("Sandbox time");
const sandboxUrl = Type.String({ description: "The address of the sandbox" });

const replyOf = (id: string) => {
  const operation = controlCatalogue.find((one) => one.id === id);
  return (operation as unknown as { reply: { properties: TProperties } }).reply.properties;
};

/** The rows of a list of the control API, as `--json` prints them. */
const rowOf = (list: string) => (replyOf(list).data as unknown as { items: TSchema }).items;

/** A line of `start`, `attach` or `listen`: its field `event` says what it is. */
const line = (event: string, description: string, fields: TProperties) =>
  annotate(Type.Object({ event: oneOf([event], ""), ...fields }), { title: event, description });

const isNullable = (schema: TSchema) => [(schema as { type?: string | string[] }).type].flat().includes("null");

/** A request as a line: without the fields that are null in its message. */
function requestFields(): TProperties {
  const { durationMs, ...fields } = RequestMessage.properties as TProperties;
  const present = Object.entries(fields).map(([name, schema]) => [
    name,
    isNullable(schema) ? Type.Optional(schema) : schema,
  ]);
  return { ...Object.fromEntries(present), at, duration: durationMs as TSchema };
}

/** The fields of any other event: those of its subject if it has one, with the time as text. */
function eventFields(kind: keyof typeof liveEvents): TProperties {
  const { kind: _, ...fields } = liveEvents[kind].properties as TProperties;
  const { properties = fields } = (fields[kind] ?? {}) as { properties?: TProperties };
  return properties.at === undefined ? properties : { ...properties, at };
}

function firstLines(): TSchema[] {
  const { version, baseUrl, pid, database, merchants, ...overview } = replyOf("sandbox.overview");
  const summary = { version, baseUrl, pid, database, merchants } as TProperties;
  const { heldDeliveries, heldEndpoints, heldFaults } = overview as Record<string, TSchema>;
  const facts = {
    ...summary,
    url: sandboxUrl,
    controlToken: Type.Optional(Type.String({ description: "Only of a sandbox whose control API requires it" })),
    endpoints: Type.Array(rowOf("endpoints.list"), { description: "The endpoints that options registered" }),
    heldDeliveries,
    heldEndpoints,
    heldFaults,
    stateProblem: Type.Optional(Type.String({ description: "Why this machine cannot recognise its own files later" })),
    log: Type.Optional(Type.String({ description: "The log of a detached sandbox" })),
  } as TProperties;
  return [
    line("ready", "The sandbox accepts requests", facts),
    line("attached", "The sandbox of another process is being watched", summary),
  ];
}

const eventLines = (): TSchema[] => [
  line("request", "A completed request", requestFields()),
  line("delivery", "A completed delivery attempt", eventFields("attempt")),
  line("verdict", "A verdict of the judge", eventFields("verdict")),
  line("fault", "A fault rule fired", eventFields("fault")),
  line("clock", "The clock was changed", eventFields("clock")),
  line("lesson", "A learner made progress", eventFields("lesson")),
  line("reset", "A reset", eventFields("reset")),
  line("cancellation", "The pending deliveries to an endpoint were cancelled", eventFields("cancellation")),
  line("removal", "A merchant was removed", eventFields("removal")),
];

const noticeLines = (): TSchema[] => [
  line("defect", "The sandbox had an internal error", { where: text, error: text }),
  line("missed", "The sandbox no longer holds some events", { from: Type.Integer(), to: Type.Integer() }),
  line("unknown", "Messages of another version were not printed", { messages: Type.Integer() }),
  line("reloaded", "With --watch: files were loaded again", { files: Type.Array(text) }),
  line("not_reloaded", "With --watch: a file has a mistake, and the sandbox stays as it was", {
    files: Type.Array(text),
    error: text,
  }),
  line("anew", "The sandbox was restarted", {}),
  line("away", "The sandbox does not respond", { url: sandboxUrl, why: text }),
  line("live", "The sandbox responds again", { url: sandboxUrl }),
];

const kinds = ["requests", "events", "deliveries", "verdicts", "endpoints"] as const;
const listOfKind = (kind: (typeof kinds)[number]) => rowOf(kind === "deliveries" ? "attempts.list" : `${kind}.list`);

const row = (kind: (typeof kinds)[number]) =>
  annotate(listOfKind(kind), { title: kind, description: `A line of \`${kind} --json\`` });

const errorObject = () =>
  Type.Object(
    {
      error: Type.String({ description: "The code of the API's error, or the kind of failure, such as usage" }),
      message: text,
      hint: nullable(Type.String({ description: "How to mend it" })),
      exitCode: Type.Integer({ minimum: 1, maximum: Object.keys(exitMeanings).length - 1 }),
    },
    { description: "The last line of standard error of a command that failed" },
  );

/** Each published schema by name. */
export const lineSchemas: Readonly<Record<string, { summary: string; schema(): TSchema }>> = {
  events: {
    summary: "each line of start, attach, listen and --follow with --json",
    schema: () => Type.Union([...firstLines(), ...eventLines(), ...noticeLines(), ...kinds.map(row)]),
  },
  error: { summary: "the last line of standard error if a command with --json fails", schema: errorObject },
};
