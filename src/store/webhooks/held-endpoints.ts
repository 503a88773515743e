// Held endpoints: endpoints from a database or a snapshot that this user's sandboxes did not write, or from a folder's
// merchant-sandbox.json. Their deliveries are stored without a due time, and wait until the user releases them.

import type { Database } from "../sqlite/database.ts";
import { ENDPOINT_KIND, HELD } from "./deliveries.ts";
import type { EndpointKey } from "./outbox.ts";

/** Removes the due time of unfinished deliveries, so that they wait until the user releases them. */
export const HOLD_DELIVERIES =
  "update deliveries set state = 'pending', due = null, held = null where state = 'pending' or state = 'sending'";

interface StoredEndpoint extends EndpointKey {
  url: string;
}

export function openHeldEndpoints({ sql }: Database) {
  const held = new Map<string, EndpointKey>();
  const hold = sql.prepare(HOLD_DELIVERIES);
  const stored = sql.prepare<[], StoredEndpoint>(
    `select merchant, id as endpoint, body ->> 'url' as url from documents
     where kind = '${ENDPOINT_KIND}' order by sequence`,
  );
  const kinds = sql
    .prepare<[], string>(
      `select distinct value ->> '$.effect.kind' from deliveries, json_each(decided)
       where ${HELD} and decided is not null order by 1`,
    )
    .pluck();
  const keyOf = ({ merchant, endpoint }: EndpointKey) => `${merchant} ${endpoint}`;
  const add = (one: EndpointKey) => void held.set(keyOf(one), one);
  return {
    /** Whether new deliveries to an endpoint wait. */
    isHeld: (merchant: string, endpoint: string) => held.size > 0 && held.has(keyOf({ merchant, endpoint })),
    hold: add,
    /** Holds the pending deliveries. Call inside a transaction. */
    holdDeliveries: () => void hold.run(),
    /** Holds every endpoint that is stored. */
    holdStored() {
      for (const one of stored.all()) add(one);
    },
    /** Stops holding one endpoint (default: all endpoints). Deliveries that wait already stay as they are. */
    release(one?: EndpointKey) {
      if (one) held.delete(keyOf(one));
      else held.clear();
    },
    /** Call after the endpoints of a merchant, or of all, were deleted for good: new ones may get the same ids. */
    forget(merchant?: string) {
      for (const [key, one] of held) if (merchant === undefined || one.merchant === merchant) held.delete(key);
    },
    /** The addresses of the held endpoints. */
    urls: () => (held.size === 0 ? [] : stored.all().flatMap((one) => (held.has(keyOf(one)) ? [one.url] : []))),
    /** The kinds of effects that fault rules have decided for the waiting deliveries. */
    faults: () => kinds.all(),
  };
}
