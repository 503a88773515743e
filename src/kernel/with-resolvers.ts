// Promise.withResolvers, which Node 20 lacks.

/** A promise with the functions that settle it. */
export function withResolvers<T = void>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  return { promise, resolve, reject };
}
