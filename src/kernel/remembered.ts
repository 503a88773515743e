// What follows from a text alone, made once for each text that comes again and again.

/**
 * Beyond so many texts all are forgotten: whoever sends ever new ones gains nothing by this, and fills no memory. What else is handed in
 * says what the text says, in a form that is quicker to work with.
 */
export function remembered<T, Rest extends unknown[]>(
  most: number,
  make: (text: string, ...rest: Rest) => T,
): (text: string, ...rest: Rest) => T {
  const known = new Map<string, { value: T }>();
  return (text, ...rest) => {
    const found = known.get(text);
    if (found) return found.value;
    const value = make(text, ...rest);
    if (known.size >= most) known.clear();
    known.set(text, { value });
    return value;
  };
}
