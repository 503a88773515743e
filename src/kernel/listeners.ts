// Sets of listeners: joining one, and telling all of it something.

/** Adds a listener; what it answers takes it away again. */
export const subscribeTo =
  <T>(listeners: Set<T>) =>
  (listener: T) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

export function notify<T>(listeners: Set<(value: T) => void>, value: T): void {
  for (const listener of listeners) listener(value);
}
