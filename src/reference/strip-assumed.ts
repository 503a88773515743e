// Removes assumption marks from surfaces that emulate no service, such as the control API.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import { ASSUMED, factOf } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { DeclaredOperation, Surface } from "./api-surface.ts";
import { mapSubschemas, type Printed } from "./subschemas.ts";

/** The operations as the documentation of the surface shows them. */
export const shownOn = ({ assumes }: Surface, operations: readonly DeclaredOperation[]): readonly DeclaredOperation[] =>
  assumes ? operations : operations.map(withoutMarks);

function withoutMarks(operation: DeclaredOperation): DeclaredOperation {
  const { query, body, reply, status, emits } = operation;
  return {
    ...operation,
    query: unmarked(query),
    body: body && unmarked(body),
    reply: unmarked(reply),
    status: factOf(status),
    emits: emits.map(factOf),
  };
}

export const unmarked = <S extends TSchema | ObjectSchema>(schema: S): S => strip(schema) as unknown as S;

function strip(schema: TSchema): Printed {
  const { [ASSUMED]: _, ...rest } = mapSubschemas(schema, strip);
  return rest;
}
