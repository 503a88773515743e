// A client on trial: a merchant of its own, the faults that strike it, and what the judge found about it.

import { control } from "../support/sandbox.ts";

export interface Trial {
  merchant: string;
  apiKey: string;
  /** Arms a fault rule that strikes this client alone. */
  fault(action: Record<string, unknown>, trigger?: Record<string, unknown>, match?: Record<string, unknown>): Promise<void>;
  /** Removes them again. */
  calm(): Promise<void>;
  found(): Promise<Found[]>;
}

export interface Found {
  rule: string;
  verdict: "pass" | "fail" | "inconclusive";
  operation: string | null;
  says: string;
}

export async function openTrial(url: string): Promise<Trial> {
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
    async calm() {
      for (const id of armed.splice(0)) await control(url, "DELETE", `/faults/${id}`);
    },
    found: async () => (await control(url, "GET", `/verdicts?merchant=${merchant}`)).verdicts as Found[],
  };
}

const DELIVERY_ACTIONS = new Set(["signature", "duplicate"]);

/** Each call fails that often, whoever sends it and whatever came before. */
export const eachCall = (times: number) => ({ times, per: "idempotency_key" });

export const rulesThat = (found: readonly Found[], verdict: Found["verdict"]) => [
  ...new Set(found.filter((one) => one.verdict === verdict).map(({ rule }) => rule)),
];
