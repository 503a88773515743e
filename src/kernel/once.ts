// What is made at most once, when it is first asked for.

export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The same for each of many: what is made of a thing goes with it. */
export function oncePerKey<K extends object, T>(make: (key: K) => T): (key: K) => T {
  const made = new WeakMap<K, { value: T }>();
  return (key) => {
    const known = made.get(key) ?? { value: make(key) };
    made.set(key, known);
    return known.value;
  };
}
