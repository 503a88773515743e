// JSON Pointers (RFC 6901): writing them, and reading the value that one points at.

/** A property name as one segment of a JSON Pointer. */
export const escapePointer = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");

const unescapePointer = (segment: string) => segment.replaceAll("~1", "/").replaceAll("~0", "~");

/** The property names and array indices of a JSON Pointer. */
export const pointerSegments = (pointer: string) => pointer.split("/").slice(1).map(unescapePointer);

/** The value at a JSON Pointer, or undefined. */
export function valueAt(root: unknown, pointer: string): unknown {
  return pointerSegments(pointer).reduce(
    (value, segment) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, segment)
        ? (value as Record<string, unknown>)[segment]
        : undefined,
    root,
  );
}
