// Checks a service file before it is written: no reply of the sandbox under the file may be farther from the recording
// than without it.

import { grouped } from "../kernel/grouped.ts";
import type { RefusedEntry } from "../service/file-check.ts";
import type { ServiceFile } from "../service/service-file.ts";

type Facts = ServiceFile["facts"];

interface CheckOptions {
  given?: Facts | undefined;
  refusedIn(facts: Facts): RefusedEntry | undefined;
  /** The distance from the recording of each reply, by its entry, of a sandbox under these facts. */
  play(facts: Facts): Promise<ReadonlyMap<string, number>>;
}

/**
 * Halves the entries until each that takes a reply farther from the recording is found: few plays, if few entries do.
 */
export async function keepNearer(facts: Facts, { given = {}, refusedIn, play }: CheckOptions) {
  const before = await play(given);
  const dropped: { id: string; why: string }[] = [];
  const problemWith = async (some: Facts): Promise<string | undefined> => {
    const all = { ...given, ...some };
    const refused = refusedIn(all);
    if (refused) return refused.message;
    const after = await play(all);
    const farther = [...before].find(([entry, distance]) => (after.get(entry) ?? 0) > distance);
    return farther && `with it, the sandbox comes out farther from the recording at ${farther[0]}`;
  };
  const add = async (kept: Facts, groups: readonly Facts[]): Promise<Facts> => {
    const all = Object.assign({}, kept, ...groups) as Facts;
    const why = groups.length === 0 ? undefined : await problemWith(all);
    if (why === undefined) return all;
    if (groups.length > 1) {
      const half = Math.ceil(groups.length / 2);
      return add(await add(kept, groups.slice(0, half)), groups.slice(half));
    }
    for (const id of Object.keys(groups[0] as Facts)) dropped.push({ id, why });
    return kept;
  };
  return { facts: await add({}, groupsOf(facts)), dropped };
}

const PART = /\.(type|format|prefix|values|example|required|name)$/;

/** Entries about one field belong together: the type of an added field means nothing without the field. */
function groupsOf(facts: Facts): Facts[] {
  const groups = grouped(Object.entries(facts), ([id]) =>
    Object.hasOwn(facts, id.replace(PART, "")) ? id.replace(PART, "") : id,
  );
  return [...groups.values()].map((entries) => Object.fromEntries(entries));
}
