// An operation as recordings are compared with it: its bounds, its window of replays and the bodies it accepts, by a service file.

import type { Endpoint, ObjectSchema } from "../contracts/endpoint.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { withBounds } from "./pages.ts";
import { adoptedBody } from "./requests.ts";

type Compared = Pick<Endpoint, "id" | "query" | "body" | "replayWindow">;

export function comparedOperation<O extends Compared>(operation: O, facts: AdoptedFacts): O & { accepts?: ObjectSchema } {
  const seconds = facts.number("idempotency.seconds");
  const accepts = adoptedBody(operation, facts);
  return {
    ...operation,
    query: boundedQuery(operation, facts),
    ...(seconds !== undefined && { replayWindow: seconds * 1_000 }),
    ...(accepts !== undefined && { accepts }),
  };
}

function boundedQuery({ id, query }: Compared, facts: AdoptedFacts): ObjectSchema {
  const { limit } = query.properties;
  const bounded = limit && withBounds(limit, `${id}.query.limit`, facts);
  return bounded === limit ? query : ({ ...query, properties: { ...query.properties, limit: bounded } } as ObjectSchema);
}
