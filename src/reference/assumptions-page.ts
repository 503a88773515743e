// Generates docs/assumptions.md from the list of assumptions.

import { type Ledger, type LedgerRow, type Subject, subjects } from "./ledger.ts";
import { blocks, code, GENERATED, link, table } from "./markdown.ts";

export function assumptionsPage({ total, rows }: Ledger): string {
  const present = (Object.keys(subjects) as Subject[]).filter((subject) => rows.some(({ about }) => about === subject));
  const sections = present.flatMap((subject) => section(subject, rows));
  return `${blocks(
    GENERATED,
    "# Assumptions",
    `The service's documentation does not specify everything that the sandbox has to implement. The sandbox therefore makes ${total} assumptions, for ${rows.length} reasons. A setting, where one is listed, changes the behaviour. A running sandbox returns this list at \`GET /_sandbox/assumptions\` and marks each assumption in its OpenAPI document with \`x-sandbox-assumed\`.`,
    present.map((subject) => `- ${link(subjects[subject], `#${anchorOf(subject)}`)}`).join("\n"),
    ...sections,
  )}\n`;
}

const anchorOf = (subject: Subject) => subjects[subject].toLowerCase().replaceAll(" ", "-");

function section(subject: Subject, rows: readonly LedgerRow[]): string[] {
  const own = rows.filter(({ about }) => about === subject);
  const cells = own.map(({ fact, why, setting, places }) => [fact, why, setting === undefined ? "" : code(setting), placesOf(places)]);
  return [`## ${subjects[subject]}`, table(["Assumption", "Reason", "Setting", "Applies to"], cells)];
}

/** Groups the places by JSON Pointer, so that each pointer is printed once. */
function placesOf(places: readonly string[]): string {
  const pointers = [...new Set(places.map(pointerOf))];
  const groups = pointers.map((pointer) => {
    const names = places.filter((place) => pointerOf(place) === pointer).map((place) => code(place.split("#")[0] ?? ""));
    return names.join(", ") + (pointer === "" ? "" : ` at ${code(pointer)}`);
  });
  return groups.join("; ");
}

const pointerOf = (place: string) => place.split("#")[1] ?? "";
