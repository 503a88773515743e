// Short memories: what was looked for last, and what follows from a text alone, made once for each that comes again and again.

/** A map that is emptied before it would hold more than so many: whoever sends ever new texts gains nothing by it, and fills no memory. */
export interface BoundedCache<T> {
  get(text: string): T | undefined;
  set(text: string, value: T): void;
  delete(text: string): void;
  clear(): void;
}

export function createBoundedCache<T>(most: number): BoundedCache<T> {
  const known = new Map<string, T>();
  return {
    get: (text) => known.get(text),
    set(text, value) {
      if (known.size >= most) known.clear();
      known.set(text, value);
    },
    delete: (text) => void known.delete(text),
    clear: () => known.clear(),
  };
}

/** What else is handed in says what the text says, in a form that is quicker to work with. */
export function memoize<T, Rest extends unknown[]>(
  most: number,
  make: (text: string, ...rest: Rest) => T,
): (text: string, ...rest: Rest) => T {
  const known = createBoundedCache<{ value: T }>(most);
  return (text, ...rest) => {
    const found = known.get(text);
    if (found) return found.value;
    const value = make(text, ...rest);
    known.set(text, { value });
    return value;
  };
}
