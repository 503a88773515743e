// What follows from a text alone, made once for each text that comes again and again.

/** Beyond so many texts all are forgotten: whoever sends ever new ones gains nothing by this, and fills no memory. */
export function remembered<T>(most: number, make: (text: string) => T): (text: string) => T {
  const known = new Map<string, { value: T }>();
  return (text) => {
    const found = known.get(text);
    if (found) return found.value;
    const value = make(text);
    if (known.size >= most) known.clear();
    known.set(text, { value });
    return value;
  };
}
