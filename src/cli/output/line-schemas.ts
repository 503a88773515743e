// JSON Schemas of what the command line prints as JSON, one object per line.

import { liveEvents, RequestMessage } from "../../contracts/live-messages.ts";
import { controlCatalogue } from "../../control/index.ts";
import { exitMeanings } from "../../kernel/errors.ts";
import { annotate } from "../../schema/assumed.ts";
import { nullableText, oneOf, type TProperties, type TSchema, Type, timeText } from "../../schema/shapes.ts";

const text = Type.String();
const at = timeText("Sandbox time");
const sandboxUrl = Type.String({ description: "The address of the sandbox" });

const replyOf = (id: string) => {
  const operation = controlCatalogue.find((one) => one.id === id);
  return (operation as unknown as { reply: { properties: TProperties } }).reply.properties;
};

/** The rows of a list of the control API, as `--json` prints them. */
const rowOf = (list: string) => (replyOf(list).data as unknown as { items: TSchema }).items;

/** A kind of line that `start`, `dev`, `attach` or `listen` prints: its meaning and its fields. */
type Line = readonly [description: string, fields: TProperties];

const lineSchema = ([event, [description, fields]]: readonly [string, Line]) =>
  annotate(Type.Object({ event: oneOf([event], "What this line is about"), ...fields }), { title: event, description });

const isNullable = (schema: TSchema) => [(schema as { type?: string | string[] }).type].flat().includes("null");

/** The fields of a request. A field that can be null is optional, because the line then lacks it. */
function requestFields(): TProperties {
  const present = Object.entries(RequestMessage.properties as TProperties).map(([name, schema]) => [
    name,
    isNullable(schema) ? Type.Optional(schema) : schema,
  ]);
  return { ...Object.fromEntries(present), at };
}

/** The fields of any other event. An event about one thing, such as a verdict, has the fields of that thing. */
function eventFields(kind: keyof typeof liveEvents): TProperties {
  const { kind: _, ...fields } = liveEvents[kind].properties as TProperties;
  const { properties = fields } = (fields[kind] ?? {}) as { properties?: TProperties };
  return properties.at === undefined ? properties : { ...properties, at };
}

function firstLines() {
  const { version, baseUrl, pid, database, merchants, ...overview } = replyOf("sandbox.overview");
  const summary = { version, baseUrl, pid, database, merchants } as TProperties;
  const { heldDeliveries, heldEndpoints, heldFaults } = overview as Record<string, TSchema>;
  const facts = {
    ...summary,
    url: sandboxUrl,
    controlToken: Type.Optional(Type.String({ description: "Present only if the sandbox's control API requires it" })),
    endpoints: Type.Array(rowOf("endpoints.list"), { description: "The endpoints that options registered" }),
    heldDeliveries,
    heldEndpoints,
    heldFaults,
    stateProblem: Type.Optional(Type.String({ description: "Why this machine cannot recognise its own files later" })),
    log: Type.Optional(Type.String({ description: "The log of a detached sandbox" })),
  } as TProperties;
  const endpoint = replyOf("endpoints.register");
  const created = Type.Boolean({ description: "Whether listen registered the endpoint, and removes it at the end" });
  return {
    ready: ["The sandbox accepts requests", facts],
    attached: ["The sandbox of another process is being watched", { ...summary, ...overview }],
    listening: ["Of `listen`: its endpoint, at the start and after a reset has changed it", { ...endpoint, created }],
  } satisfies Record<string, Line>;
}

const eventLines = () =>
  ({
    request: ["A completed request", requestFields()],
    delivery: ["A completed delivery attempt", eventFields("attempt")],
    verdict: ["A verdict of the judge", eventFields("verdict")],
    fault: ["A fault rule fired", eventFields("fault")],
    clock: ["The clock was changed", eventFields("clock")],
    lesson: ["A learner made progress", eventFields("lesson")],
    reset: ["A reset", eventFields("reset")],
    cancellation: ["The pending deliveries to an endpoint were cancelled", eventFields("cancellation")],
    removal: ["A merchant was removed", eventFields("removal")],
  }) satisfies Record<string, Line>;

const noticeLines = () =>
  ({
    app: ["Of `dev`: about the app, or the deliveries that wait for it", { message: text }],
    output: ["Of `dev`: a line that the app printed", { from: oneOf(["stdout", "stderr"], "Where"), line: text }],
    defect: ["The sandbox had an internal error", { where: text, error: text }],
    missed: ["The sandbox no longer holds some events", { from: Type.Integer(), to: Type.Integer() }],
    unknown: ["Messages of another version were not printed", { messages: Type.Integer() }],
    reloaded: [
      "With --watch: files were loaded again",
      {
        files: Type.Array(text),
        needRestart: Type.Array(text, { description: "Changed options that apply only after a restart" }),
        heldEndpoints: replyOf("sandbox.overview").heldEndpoints as TSchema,
      },
    ],
    not_reloaded: [
      "With --watch: the files could not be loaded, and the earlier options stay in force",
      { files: Type.Array(text), error: text },
    ],
    restarted: ["The sandbox was restarted", {}],
    unreachable: ["The sandbox does not respond", { url: sandboxUrl, message: text }],
    reachable: ["The sandbox responds again", { url: sandboxUrl }],
  }) satisfies Record<string, Line>;

/** The values of the field `event` of a line. */
export type LineName = keyof (ReturnType<typeof firstLines> &
  ReturnType<typeof eventLines> &
  ReturnType<typeof noticeLines>);

const lines = (): Record<LineName, Line> => ({ ...firstLines(), ...eventLines(), ...noticeLines() });

const kinds = ["requests", "events", "deliveries", "verdicts", "endpoints"] as const;
const listOfKind = (kind: (typeof kinds)[number]) => rowOf(kind === "deliveries" ? "deliveries.list" : `${kind}.list`);

const row = (kind: (typeof kinds)[number]) =>
  annotate(listOfKind(kind), { title: kind, description: `A line of \`${kind} --json\`` });

const errorObject = () =>
  Type.Object(
    {
      error: Type.String({ description: "The code of the API's error, or the kind of failure, such as usage" }),
      message: text,
      hint: nullableText("How to fix the problem"),
      exitCode: Type.Integer({ minimum: 1, maximum: Object.keys(exitMeanings).length - 1 }),
    },
    { description: "The last line of standard error of a command that failed" },
  );

/** Each published schema by name. */
export const lineSchemas: Readonly<Record<string, { summary: string; schema(): TSchema }>> = {
  events: {
    summary: "each line of start, dev, attach, listen and --follow with --json",
    schema: () => Type.Union([...Object.entries(lines()).map(lineSchema), ...kinds.map(row)]),
  },
  error: { summary: "the last line of standard error if a command with --json fails", schema: errorObject },
};
