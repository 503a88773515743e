// What there is to say of business that goes on by itself: what is asked for, and how it fares.

/** As it is asked for: nothing of it has been looked at yet. */
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
  /** Null where it goes on until somebody stops it. */
  for: string | null;
  /** The weight of each kind of record that something may happen to. */
  mix: Record<string, number>;
  status: (typeof TRAFFIC_STATES)[number];
  /** How often something happened, in all and by kind. */
  happened: number;
  byKind: Record<string, number>;
  /** Sandbox milliseconds. */
  startedAt: number;
  /** Null once it is over. */
  nextAt: number | null;
}

export interface Traffic {
  /** Begins; what the merchant had of it before ends. */
  start(wanted: TrafficOptions): TrafficState;
  /** Ends what runs, of one merchant or of all; answers what it ended. */
  stop(merchant?: string): TrafficState[];
  /** The newest of each merchant, over or not. */
  list(): TrafficState[];
}
