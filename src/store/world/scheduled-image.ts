// A seed image with the due times of its records, which depend on the time zones of merchants and so cannot be moved along with its dates.

import type { Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type DueRecord, writeDueTimes } from "../records/due-records.ts";
import type { DatabaseImage } from "../sqlite/database.ts";
import type { Stores } from "../stores.ts";
import type { SeedImage } from "./seed-image.ts";

/** An image as it is seeded at the present of the clock. */
export interface ScheduledImage extends DatabaseImage, Pick<SeedImage, "copyInto"> {}

interface ScheduleOptions {
  resources: readonly Resource[];
  clock: Clock;
  /** Opens stores in memory over an image. */
  open(bytes: Buffer): Stores;
}

/** Images are shared by all sandboxes of a process. */
const cache = new WeakMap<SeedImage, readonly DueRecord[]>();

export function scheduleImage(image: SeedImage, options: ScheduleOptions): ScheduledImage {
  const now = options.clock.now();
  // What lies in the past is over.
  const toCome = () => dueTimesOf(image, options).filter(({ due }) => due > now);
  return {
    get bytes() {
      return image.bytes;
    },
    opened: (sql) => writeDueTimes(sql, toCome()),
    copyInto(database) {
      image.copyInto(database);
      writeDueTimes(database.sql, toCome());
    },
  };
}

function dueTimesOf(image: SeedImage, { resources, open }: ScheduleOptions): readonly DueRecord[] {
  const known = cache.get(image);
  if (known) return known;
  const stores = open(image.bytes);
  try {
    const dueTimes = [...readDueTimes(stores, resources)];
    cache.set(image, dueTimes);
    return dueTimes;
  } finally {
    stores.close();
  }
}

/** An image has due times as of the day to which its dates moved; the hour may differ in summer time. */
function* readDueTimes({ database, createOperationContext }: Stores, resources: readonly Resource[]): Generator<DueRecord> {
  const withDueTime = database.sql.prepare<[], Omit<DueRecord, "due"> & { status: string; body: string }>(
    "select merchant, kind, id, status, body from documents where due is not null order by sequence",
  );
  const kinds = new Map(resources.map((resource) => [resource.kind, resource]));
  for (const { merchant, kind, id, status, body } of withDueTime.all()) {
    const next = kinds.get(kind)?.states[status]?.next;
    const { own } = createOperationContext(merchant, 0, undefined);
    const at = next?.({ record: JSON.parse(body), own })?.at;
    if (at !== undefined) yield { merchant, kind, id, due: Math.ceil(at / 1000) * 1000 };
  }
}
