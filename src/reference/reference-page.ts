// The reference that a person reads: every operation with a call that works, then what holds for all of them.

import type { Resource } from "../contracts/resource.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import { areasOf, type Catalogue } from "./api-surface.ts";
import { errorObject } from "./error-replies.ts";
import { type EventType, envelope } from "./events.ts";
import type { Replies } from "./example.ts";
import { ASSUMED_MARK, isMarked, receivedTable } from "./fields.ts";
import { blocks, code, GENERATED, heading, link } from "./markdown.ts";
import { operationSection } from "./operation-section.ts";
import { shownOn } from "./strip-assumed.ts";
import { descriptionOf, titledSchemas } from "./subschemas.ts";
import { behaviourTable, errorTable, eventTable, headerTables, limitTable } from "./tables.ts";

export interface PageSource {
  service: Catalogue;
  control: Catalogue;
  resources: readonly Resource[];
  events: readonly EventType[];
  behaviours: readonly Behaviour[];
  replies: Replies;
}

const GENERAL = ["Records", "Errors", "Events", "Headers", "Limits", "Behaviour"] as const;

export function referencePage(source: PageSource): string {
  const { service, control, resources, events, behaviours } = source;
  const schemas = [...resources.map(({ schema }) => schema), ...schemasOf(service), errorObject, envelope];
  const sections: Record<(typeof GENERAL)[number], string> = {
    Records: blocks(
      `Lists answer records newest first. What is marked ${ASSUMED_MARK} is not in the service's document.`,
      records(schemas),
    ),
    Errors: blocks(
      "Every error is an [`error`](#record-error) object. One status has one meaning, and `code` names the exact condition. All but 429 are assumed.",
      errorTable(service, control),
    ),
    Events: blocks("Sent as an [`event`](#record-event) to every enabled endpoint that subscribed to its type.", eventTable(events)),
    Headers: headerTables(),
    Limits: limitTable(service.operations),
    Behaviour: blocks(
      `Why each of these is so, and everything else that is assumed, stands in ${link("the ledger", "assumptions.md")}.`,
      behaviourTable(behaviours),
    ),
  };
  return page(
    "Reference",
    `Every operation under \`${service.surface.server}\`. The commands below succeed as they stand on a freshly started sandbox. Beside the errors that stand with an operation, it can answer those of which ${link("the table of errors", "#errors")} says that any can. What steers the sandbox itself is on ${link("a page of its own", "control.md")}.`,
    service,
    source.replies,
    GENERAL.map((name) => [name, sections[name]]),
  );
}

export function controlPage(control: Catalogue): string {
  const schemas = [...titledSchemas(schemasOf(control)).values()];
  return page(
    "Control plane",
    `Every operation under \`${control.surface.server}${control.surface.prefix}\`. ${control.surface.description} Errors are those of ${link("the reference", "reference.md#errors")}.`,
    control,
    {},
    schemas.length === 0 ? [] : [["Shapes", records(schemas)]],
  );
}

const schemasOf = ({ surface, operations }: Catalogue) =>
  shownOn(surface, operations).flatMap(({ reply, body }) => (body ? [reply, body] : [reply]));

function page(
  title: string,
  introduction: string,
  { surface, operations }: Catalogue,
  replies: Replies,
  general: readonly (readonly [name: string, text: string])[],
): string {
  const shown = { surface, operations: shownOn(surface, operations) };
  const areas = areasOf(shown.operations);
  const contents = areas.map(([area, members]) => {
    const lines = members.map(
      ({ id, summary, method, path }) => `  - ${link(summary, `#${id}`)} ${code(`${method} ${surface.prefix}${path}`)}`,
    );
    return [`- ${link(area, `#area-${anchorOf(area)}`)}`, ...lines].join("\n");
  });
  const links = general.map(([name]) => `- ${link(name, `#${anchorOf(name)}`)}`);
  const sections = areas.flatMap(([area, members]) => [
    heading(2, area, `area-${anchorOf(area)}`),
    ...members.map((operation) => operationSection(shown, operation, replies)),
  ]);
  const rest = general.flatMap(([name, text]) => [heading(2, name, anchorOf(name)), text]);
  return `${blocks(GENERATED, `# ${title}`, introduction, [...contents, ...links].join("\n"), ...sections, ...rest)}\n`;
}

const anchorOf = (name: string) => name.toLowerCase().replaceAll(" ", "-");

function records(schemas: readonly TSchema[]): string {
  const sections = [...titledSchemas(schemas)].map(([title, schema]) => {
    const told = descriptionOf(schema);
    return blocks(
      heading(3, title, `record-${title}`),
      [told && `${told}.`, isMarked(schema) ? ASSUMED_MARK : ""].join(" ").trim(),
      receivedTable(schema),
    );
  });
  return blocks(...sections);
}
