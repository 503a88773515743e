// The report of this run, or of a recorded one: a report JSON chosen or dropped here, to look at a failure of CI afterwards.

import { useState } from "preact/hooks";
import { controlCalls } from "../../src/client/control-call.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { sanitize } from "../terminal/cells.ts";
import { milliseconds } from "../view/format.ts";
import { verdictLabel } from "../view/status-colours.ts";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import { perform } from "./fetch-perform.ts";
import { Timeline, type TimelineAttempt, type TimelineRequest } from "./timeline.tsx";

/** The parts of a report that are shown. */
interface RecordedRun {
  problems: readonly string[];
  failed: boolean;
  sandbox: { version: string; now: string };
  totals: { operations: { called: number; total: number }; requests: number; attempts: number; verdicts: Record<string, number> };
  coverage: readonly { operation: string; method: string; path: string; calls: number }[];
  verdicts: readonly (Omit<VerdictMessage, "at"> & { at: string })[];
  requests: readonly (Omit<TimelineRequest, "at"> & { at: string })[];
  deliveries: readonly RecordedAttempt[];
}

interface RecordedAttempt {
  id: string;
  at: string;
  type: string;
  attempt: number;
  maxAttempts: number;
  status: TimelineAttempt["status"];
  responseStatus: number | null;
  error: TimelineAttempt["errorCode"];
}

/** A failed attempt before the last one was retried later. */
const attemptOf = ({ id, at, type, attempt, maxAttempts, status, responseStatus, error }: RecordedAttempt): TimelineAttempt => ({
  ...{ id, at: milliseconds(at), eventType: type, attempt, status, responseStatus, errorCode: error },
  nextAttemptAt: status !== "succeeded" && attempt < maxAttempts ? milliseconds(at) : null,
});

/** Reads a report, whose texts come from clients; throws for any other text. */
function readRun(text: string): RecordedRun {
  const run = JSON.parse(text, (_, value) => (typeof value === "string" ? sanitize(value) : value)) as Partial<RecordedRun> | null;
  const lists = [run?.coverage, run?.verdicts, run?.requests, run?.deliveries];
  if (!run?.totals?.operations || !lists.every(Array.isArray)) throw new Error("not a report");
  return run as RecordedRun;
}

interface Shown {
  name: string;
  run?: RecordedRun;
  problem?: string;
}

export function ReportView({ dashboard }: { dashboard: BrowserDashboard }) {
  const [{ name, run, problem }, setShown] = useState<Shown>({ name: "" });
  const showFile = async (file: File | undefined) => {
    if (!file) return;
    const text = await file.text();
    try {
      setShown({ name: file.name, run: readRun(text) });
    } catch {
      setShown({
        name: file.name,
        problem: `${file.name} is not a report of merchant-sandbox. Make one with: merchant-sandbox exec --report json=run.json -- COMMAND`,
      });
    }
  };
  const showThisRun = () =>
    perform(dashboard.state.target, controlCalls.report()).then(
      ({ body }) => setShown({ name: "This run", run: readRun(JSON.stringify(body)) }),
      ({ message }: Error) => setShown({ name: "This run", problem: message }),
    );
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void showFile(event.dataTransfer?.files[0]);
  };
  return (
    <section class="view" tabIndex={0} aria-label="Report" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <div class="list-head">
        <h2>Report</h2>
        <span class="note">{name}</span>
        <span class="space" />
        <button type="button" onClick={() => void showThisRun()}>
          Show this run
        </button>
        <label class="file">
          Open a report
          <input type="file" accept="application/json,.json" onChange={({ currentTarget }) => void showFile(currentTarget.files?.[0])} />
        </label>
      </div>
      {problem !== undefined && <p class="problem">{problem}</p>}
      {run ? (
        <Run run={run} />
      ) : (
        problem === undefined && <p class="hint">Show this run, or drop the report JSON of another one here, such as that of a CI job.</p>
      )}
    </section>
  );
}

function Run({ run }: { run: RecordedRun }) {
  const { totals, problems, coverage } = run;
  const timed = <Row extends { at: string }>(rows: readonly Row[]) => rows.map((row) => ({ ...row, at: milliseconds(row.at) }));
  const missed = coverage.filter(({ calls }) => calls === 0);
  return (
    <>
      <ul class="tiles">
        <Tile label="operations called" value={`${totals.operations.called} of ${totals.operations.total}`} />
        <Tile label="requests" value={String(totals.requests)} />
        <Tile label="delivery attempts" value={String(totals.attempts)} />
        <Tile label="verdicts failed" value={String(totals.verdicts.fail ?? 0)} isBad={(totals.verdicts.fail ?? 0) > 0} />
      </ul>
      {problems.length > 0 && (
        <>
          <h3>Why the run failed</h3>
          <ul>
            {problems.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </>
      )}
      <Timeline requests={timed(run.requests)} attempts={run.deliveries.map(attemptOf)} verdicts={timed(run.verdicts)} />
      <Verdicts verdicts={run.verdicts} />
      {missed.length > 0 && (
        <>
          <h3>Operations never called</h3>
          <p class="missed">
            {missed.map(({ operation }) => (
              <code key={operation}>{operation}</code>
            ))}
          </p>
        </>
      )}
    </>
  );
}

const Tile = ({ label, value, isBad = false }: { label: string; value: string; isBad?: boolean }) => (
  <li>
    <strong class={isBad ? "red" : ""}>{value}</strong> {label}
  </li>
);

const Verdicts = ({ verdicts }: Pick<RecordedRun, "verdicts">) => (
  <>
    <h3>Verdicts</h3>
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>verdict</th>
            <th>rule</th>
            <th>finding</th>
            <th>how to fix it</th>
          </tr>
        </thead>
        <tbody>
          {verdicts.map(({ id, rule, verdict, says, hint }) => {
            const [label, style] = verdictLabel({ colours: true, unicode: true }, verdict);
            return (
              <tr key={id}>
                <td>
                  <span class={style}>{label}</span>
                </td>
                <th scope="row">{rule}</th>
                <td class="words">{says}</td>
                <td class="words">{verdict === "pass" ? "" : hint}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  </>
);
