// Sets of listeners: subscribing to one, and notifying all of them.

/** Adds a listener; the returned function removes it. */
export const subscribeTo =
  <T>(listeners: Set<T>) =>
  (listener: T) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

export function notify<T>(listeners: Set<(value: T) => void>, value: T): void {
  for (const listener of listeners) listener(value);
}
