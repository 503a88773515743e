// Generates docs/reference.md and docs/control.md: every operation with an example, then the sections that apply to
// all.

import { envelope, errorObject } from "../../src/contracts/envelopes.ts";
import type { Resource } from "../../src/contracts/resource.ts";
import type { EventType } from "../../src/reference/events.ts";
import type { TSchema } from "../../src/schema/shapes.ts";
import { titledSchemas } from "../../src/schema/walk.ts";
import { areasOf, type Catalogue, type DeclaredOperation, shownOn } from "../reference/api-surface.ts";
import type { Replies } from "../reference/examples.ts";
import { descriptionOf } from "../reference/subschemas.ts";
import { ASSUMED_MARK, isMarked, receivedTable } from "./fields.ts";
import { blocks, code, GENERATED, heading, link } from "./markdown.ts";
import { controlEntry, operationSection } from "./operation-section.ts";
import { errorTable, eventTable, headerTables, limitTable } from "./tables.ts";

export interface PageSource {
  service: Catalogue;
  control: Catalogue;
  resources: readonly Resource[];
  events: readonly EventType[];
  replies: Replies;
}

const GENERAL = ["Objects", "Errors", "Events", "Headers", "Limits"] as const;

export function referencePage(source: PageSource): string {
  const { service, control, resources, events } = source;
  const schemas = [...resources.map(({ schema }) => schema), ...schemasOf(service), errorObject, envelope];
  const sections: Record<(typeof GENERAL)[number], string> = {
    Objects: blocks(
      `Lists return the newest objects first. Facts marked ${ASSUMED_MARK} are not in the service's documentation.`,
      records(schemas),
    ),
    Errors: blocks(
      "Every error response is an [`error`](#record-error) object. `code` identifies the exact condition. " +
        "All errors except the 429 for rate limits are assumed.",
      errorTable(service, control),
    ),
    Events: blocks(
      "Each event is sent as an [`event`](#record-event) object to every enabled endpoint subscribed to its type.",
      eventTable(events),
    ),
    Headers: headerTables(),
    Limits: limitTable(service.operations),
  };
  return page(
    "API reference",
    `Every operation under \`${service.surface.server}\`. All commands succeed on a freshly started sandbox, ` +
      "in the order of the page. Each operation lists its own errors; " +
      `errors that any operation can return are in ${link("Errors", "#errors")}, ` +
      `and the rules that hold for all in ${link("Assumptions", "assumptions.md")}. ` +
      `The operations that control the sandbox itself are in ${link("Control API", "control.md")}.`,
    service,
    (operation, shown) => operationSection(shown, operation, source.replies),
    GENERAL.map((name) => [name, sections[name]]),
  );
}

export const controlPage = (control: Catalogue): string =>
  page(
    "Control API",
    `Every operation under \`${control.surface.server}${control.surface.prefix}\`, with what it takes. ` +
      `${control.surface.description} \`merchant-sandbox openapi --control\` prints the schema of each reply, ` +
      `and ${link("the types of the library", "../types/index.d.cts")} have them as well. ` +
      `Errors are explained in the ${link("API reference", "reference.md#errors")}.`,
    control,
    (operation) => controlEntry(control, operation),
  );

const schemasOf = ({ surface, operations }: Catalogue) =>
  shownOn(surface, operations).flatMap(({ reply, body }) => (body ? [reply, body] : [reply]));

function page(
  title: string,
  introduction: string,
  { surface, operations }: Catalogue,
  section: (operation: DeclaredOperation, shown: Catalogue) => string,
  general: readonly (readonly [name: string, text: string])[] = [],
): string {
  const shown = { surface, operations: shownOn(surface, operations) };
  const areas = areasOf(shown.operations).map(([area, members]) => [area, removalsLast(members)] as const);
  const contents = areas.map(([area, members]) => {
    const lines = members.map(
      ({ id, summary, method, path }) => `  - ${link(summary, `#${id}`)} ${code(`${method} ${surface.prefix}${path}`)}`,
    );
    return [`- ${link(area, `#area-${anchorOf(area)}`)}`, ...lines].join("\n");
  });
  const links = general.map(([name]) => `- ${link(name, `#${anchorOf(name)}`)}`);
  const sections = areas.flatMap(([area, members]) => [
    heading(2, area, `area-${anchorOf(area)}`),
    ...members.map((operation) => section(operation, shown)),
  ]);
  const rest = general.flatMap(([name, text]) => [heading(2, name, anchorOf(name)), text]);
  return `${blocks(GENERATED, `# ${title}`, introduction, [...contents, ...links].join("\n"), ...sections, ...rest)}\n`;
}

/** Readers run the commands of a page in order, so a record that a later command uses must be removed last. */
const removalsLast = (operations: readonly DeclaredOperation[]) =>
  operations.toSorted((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"));

const anchorOf = (name: string) => name.toLowerCase().replaceAll(" ", "-");

function records(schemas: readonly TSchema[]): string {
  const sections = [...titledSchemas(schemas)].map(([title, schema]) => {
    const description = descriptionOf(schema);
    return blocks(
      heading(3, title, `record-${title}`),
      [description && `${description}.`, isMarked(schema) ? ASSUMED_MARK : ""].join(" ").trim(),
      receivedTable(schema),
    );
  });
  return blocks(...sections);
}
