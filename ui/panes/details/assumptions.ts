// The assumptions that a request's operation is built on, where the service's documentation is silent.

import type { SandboxAssumptionsReply } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { grouped } from "../../../src/kernel/grouped.ts";
import type { DetailLine, DetailWriter } from "./detail-lines.ts";

export const assumptionsCall = (operation: string) => controlCalls.assumptions({ operation });

type Fact = SandboxAssumptionsReply["facts"][number];

/** Facts about a single field are not shown here, because they follow from the field itself. */
const OF_A_FIELD =
  /\.(?:type|prefix|format|required|default|minimum|maximum|values(?:\..+)?|object|merchantId|livemode)$/;

/**
 * Facts with the same reason share a paragraph. The value is shown for a fact that is alone in its paragraph, and for a
 * fact that an option has set.
 */
export function assumptionSection(
  { section, text }: DetailWriter,
  operation: string | null,
  reply: SandboxAssumptionsReply | undefined,
): DetailLine[] {
  const facts = (reply?.facts ?? []).filter(({ id, origin }) => origin === "assumed" && !OF_A_FIELD.test(id));
  const lines = [...grouped(facts, ({ why = "" }) => why)].flatMap(([why, same]) => [
    ...text(same.map((fact) => factText(fact, `${operation}.`.length, same.length === 1)).join(", ")),
    ...text(why, "dim"),
  ]);
  return section("Assumptions", lines);
}

function factText(fact: Fact, start: number, isAlone: boolean): string {
  const name = fact.id.slice(start);
  const isSet = "default" in fact;
  if (!isAlone && !isSet) return name;
  return `${name} ${JSON.stringify(fact.value)}${isSet ? `, set instead of ${JSON.stringify(fact.default)}` : ""}`;
}
