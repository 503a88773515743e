// The error message about a merchant that does not exist, which names the closest one.

import { closestMatch } from "../../kernel/did-you-mean.ts";

const PREFIX = "mer_";
/** A sandbox for tests may have thousands of merchants. */
const MOST_NAMED = 10;

export function unknownMerchant(wanted: string, known: readonly string[]): string {
  const says = `There is no merchant ${wanted}.`;
  // Without the prefix, so that `lodg` is close to mer_lodge.
  const closest = closestMatch(
    wanted.replace(PREFIX, ""),
    known.map((id) => id.replace(PREFIX, "")),
  );
  if (closest !== undefined) return `${says} Did you mean ${PREFIX}${closest}?`;
  if (known.length === 0) return `${says} This sandbox has none.`;
  const more = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : "";
  return `${says} There are ${known.slice(0, MOST_NAMED).join(", ")}${more}.`;
}
