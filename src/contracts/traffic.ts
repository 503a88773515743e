// Background traffic between rooms: its options, its state, and how it is started and stopped.

/** Not validated yet. */
export interface TrafficOptions {
  merchant?: string | undefined;
  rate?: string | undefined;
  for?: string | undefined;
  mix?: unknown;
}

export const TRAFFIC_STATES = ["running", "done", "stopped", "failed"] as const;

export interface TrafficState {
  merchant: string;
  rate: string;
  /** Null if it runs until it is stopped. */
  for: string | null;
  /** The weight of each kind of record. */
  mix: Record<string, number>;
  status: (typeof TRAFFIC_STATES)[number];
  /** The number of steps so far; `byKind` counts them by kind of record. */
  happened: number;
  byKind: Record<string, number>;
  /** Sandbox milliseconds. */
  startedAt: number;
  /** When the next step is due; null after the end. */
  nextAt: number | null;
}

export interface Traffic {
  /** Starts traffic for a merchant and replaces its current traffic. */
  start(options: TrafficOptions): TrafficState;
  /** Stops the traffic of one merchant, or all; returns what it stopped. */
  stop(merchant?: string): TrafficState[];
  /** The latest traffic of each merchant, running or not. */
  list(): TrafficState[];
}
