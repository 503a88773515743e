// The user's app beside the sandbox, as the command `dev` runs it.

export const APP_PANE = "app";

export interface AppState {
  /** Its process, or how it ended. */
  readonly status: string;
  /** The last lines of its output. */
  readonly lines: readonly string[];
}

/** The app that runs in the process of the dashboard. */
export interface AppView {
  state(): AppState;
  /** Calls back after each change. The returned function stops it. */
  listen(listener: () => void): () => void;
  restart(): void;
}
