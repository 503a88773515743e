// Finds an earlier row of the request log whose response has the same body, so that the log stores the body once.
//
// Trick. Reason: clients poll, and a list of 25 records has ten kilobytes, which cost more to mask and write than the
// rest of the request. Figure: without it, a list of 25 records over a file costs 1.2 to 1.5 times the CPU time. Rows
// refer only to rows of their own block, and a block is deleted as a whole.

/** The fields of a logged call that decide whether its response repeats an earlier one. */
interface Call {
  sequence: number;
  merchant: string | undefined;
  path: string;
  search: string;
  responseBody: string;
}

interface StoredResponse {
  sequence: number;
  body: string;
  /** The length of the body in bytes. */
  bytes: number;
}

/** Characters. Storing a shorter body costs no more than a reference. */
const SHORTEST = 1_024;
const LONGEST = 65_536;
const MOST_RESPONSES = 32;

export function createResponseCache() {
  const responses = new Map<string, StoredResponse>();
  let current = 0;
  return {
    /**
     * The row of this block with the same response to the same call; undefined if this entry must store its own body.
     */
    find({ sequence, merchant, path, search, responseBody: body }: Call, block: number): StoredResponse | undefined {
      if (body.length < SHORTEST || body.length > LONGEST || block < current) return undefined;
      if (block > current) responses.clear();
      current = block;
      const call = `${merchant} ${path}?${search}`;
      const known = responses.get(call);
      if (known?.body === body) return known;
      if (responses.size === MOST_RESPONSES) responses.clear();
      responses.set(call, { sequence, body, bytes: Buffer.byteLength(body) });
      return undefined;
    },
    clear() {
      responses.clear();
      current = 0;
    },
  };
}

/**
 * Replaces a body with the equal text of the latest response to the same call, so that memory holds it once for all
 * buffered requests of a client that polls. Returns whether the body was replaced.
 */
export function createSharedBodies() {
  const bodies = new Map<string, string>();
  return (entry: Omit<Call, "sequence">): boolean => {
    const { merchant, path, search, responseBody: body } = entry;
    if (body.length < SHORTEST || body.length > LONGEST) return false;
    const call = `${merchant} ${path}?${search}`;
    const known = bodies.get(call);
    if (known === body) {
      entry.responseBody = known;
      return true;
    }
    if (bodies.size === MOST_RESPONSES) bodies.clear();
    bodies.set(call, body);
    return false;
  };
}
