// Joins what proves a run, verification and report, to everything that they look at. The report is loaded when one is asked for.

import { catalogue, resources } from "./areas/index.ts";
import type { Console } from "./control/console.ts";
import type { VerdictMessage } from "./kernel/messages.ts";
import { createVerifier } from "./verify/verifier.ts";

interface Needs extends Omit<Console, "judge" | "faults" | "verifier" | "report"> {
  judge: { rules: readonly { id: string }[]; verdicts(): readonly VerdictMessage[] };
  faults: { list(): readonly { id: string; fired: number }[] };
  /** Hears of each request that was answered; the returned function ends that. */
  hear(happened: () => void): () => void;
}

export function openProof(needs: Pick<Needs, Used>): Pick<Console, "verifier" | "report"> {
  const { judge, faults, dispatcher, hear } = needs;
  const verdicts = () => judge.verdicts();
  const sources = { ...needs, catalogue, verdicts };
  return {
    verifier: createVerifier({
      ...needs,
      resources,
      operations: catalogue.map(({ id }) => id),
      judge: { rules: judge.rules.map(({ id }) => id), verdicts },
      faults: () => new Map(faults.list().map(({ id, fired }) => [id, fired])),
      listen(happened) {
        const deaf = [hear(happened), dispatcher.listen(happened)];
        return () => deaf.forEach((end) => void end());
      },
    }),
    report: async (format) => (await import("./report/report.ts")).report(sources, format),
  };
}

type Used = "about" | "clock" | "journal" | "runLog" | "attempts" | "tenants" | "callers" | "dispatcher" | "judge" | "faults" | "hear";
