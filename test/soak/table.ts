// Prints the counts of a soak run: actions, results, and memory.

import { growth, median } from "./flat.ts";
import type { Soak } from "./soak.ts";
import type { Held } from "./subject.ts";

export interface Outcome {
  seconds: number;
  seed: number;
  lives: { killed: number; stopped: number };
  /** The memory and handles after each hazard of the first sandbox. */
  held: readonly Held[];
}

const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MB`;

function memory(held: readonly Held[], of: "heap" | "rss"): string {
  const values = held.map((one) => one[of]);
  const [least, most] = [Math.min(...values), Math.max(...values)].map(megabytes);
  return `${megabytes(median(values))} in the middle, ${least} to ${most}, a growth of ${megabytes(growth(values))} over ${held.length} samples`;
}

const range = (values: number[]) => `${Math.min(...values)} to ${Math.max(...values)}`;

export function table({ load, receiver, disk, met }: Soak, { seconds, seed, lives, held }: Outcome): string {
  const { seen, writes } = load;
  const copies = [...receiver.copies.values()].reduce((sum, count) => sum + count, 0);
  const rows: [string, string][] = [
    ["soak", `${Math.round(seconds)} s, seed ${seed}`],
    ["lives", `1 long, ${lives.killed} killed, ${lives.stopped} stopped`],
    ["calls", `${seen.reads} reads and ${seen.writes} writes answered, ${seen.refused} refused, ${seen.broken} without an answer`],
    ["writes", `${writes.length}, each there once; ${seen.again} asked again, of which ${seen.hadHappened} had happened`],
    [
      "events",
      `${receiver.copies.size}, each received; ${copies} genuine copies, ${receiver.seen.forged} forged, ${receiver.seen.failed} failed`,
    ],
    ...[...met].map(([name, counts]): [string, string] => [name, [...counts].map(([what, count]) => `${count} ${what}`).join(", ")]),
    ["a full disk by", disk.by ?? "nothing that this machine has"],
  ];
  if (held.length > 0)
    rows.push(
      ["heap", memory(held, "heap")],
      ["process", memory(held, "rss")],
      ["sockets", range(held.map(({ sockets }) => sockets))],
      ["descriptors", range(held.map(({ descriptors }) => descriptors ?? 0))],
    );
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}\n`).join("");
}
