// Copies of objects with only some of their fields.

/** The fields with these names, in the order of the names. */
export const pick = <T extends object, const Name extends keyof T>(of: T, names: readonly Name[]): Pick<T, Name> =>
  Object.fromEntries(names.map((name) => [name, of[name]])) as Pick<T, Name>;
