// A sandbox that a command shows, and how its events are followed.

import type { StreamPosition } from "../../../ui/connection/live-stream.ts";
import type { LearningMode } from "../../../ui/state/learning-mode.ts";
import type { Output } from "./output.ts";

export interface WatchedSandbox {
  /** Where its control API is. */
  target: { url: string; token: string | undefined };
  /** The sandbox keeps running when the command ends. */
  keepsRunning: boolean;
  /** The lessons that are taken with it, if any. */
  learning?: LearningMode;
  /** Called when the dashboard opens, with a function that shows a message on it. Returns a function that is called when it closes. */
  whileDashboard?(show: (text: string) => void): () => void;
  /** Prints a description of the sandbox, then its events: from now on, or from the event at which the dashboard stopped. */
  follow(output: Output, from?: StreamPosition): Promise<Following>;
}

export interface Following {
  /** Rejects when no more events can come. */
  failed: Promise<never>;
  stop(): void;
}
