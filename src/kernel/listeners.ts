// Sets of listeners: adds a listener, and notifies all.

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

/** Notifies all listeners even if one throws; `failed` receives the error. */
export function notifyEach<T>(listeners: Set<(value: T) => void>, value: T, failed: (error: unknown) => void): void {
  for (const listener of listeners) {
    try {
      listener(value);
    } catch (error) {
      failed(error);
    }
  }
}
