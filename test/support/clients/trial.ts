// A test of one client: its own merchant, the faults armed for it, and the judge's verdicts on it.

import { control } from "../sandbox.ts";

export interface ClientTrial {
  merchant: string;
  apiKey: string;
  /** Arms a fault rule that affects only this client. */
  fault(action: Record<string, unknown>, trigger?: Record<string, unknown>, match?: Record<string, unknown>): Promise<void>;
  /** Removes those rules. */
  removeFaults(): Promise<void>;
  verdicts(): Promise<FoundVerdict[]>;
}

export interface FoundVerdict {
  rule: string;
  verdict: "pass" | "fail" | "inconclusive";
  operation: string | null;
  says: string;
}

export async function openClientTrial(url: string): Promise<ClientTrial> {
  const { merchant, apiKey } = await control(url, "POST", "/merchants", { fixture: "lodge" });
  const armed: string[] = [];
  return {
    merchant,
    apiKey,
    async fault(action, trigger = {}, match = {}) {
      const target = DELIVERY_ACTIONS.has(String(action.type)) ? "delivery" : "api";
      const { id } = await control(url, "POST", "/faults", { target, action, trigger, match: { merchant, ...match } });
      armed.push(id);
    },
    async removeFaults() {
      for (const id of armed.splice(0)) await control(url, "DELETE", `/faults/${id}`);
    },
    verdicts: async () => (await control(url, "GET", `/verdicts?merchant=${merchant}`)).verdicts as FoundVerdict[],
  };
}

const DELIVERY_ACTIONS = new Set(["signature", "duplicate"]);

/** A trigger: each call fails this many times. */
export const eachCall = (times: number) => ({ times, per: "idempotency_key" });

export const rulesWithVerdict = (found: readonly FoundVerdict[], verdict: FoundVerdict["verdict"]) => [
  ...new Set(found.filter((one) => one.verdict === verdict).map(({ rule }) => rule)),
];
