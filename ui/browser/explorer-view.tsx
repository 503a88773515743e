// The explorer: every operation of the service and of the control API, with a form to call it.

import { useEffect, useState } from "preact/hooks";
import { grouped } from "../../src/kernel/grouped.ts";
import { update } from "../state/updates.ts";
import { type ApiDocument, type ApiName, type ApiOperation, documentCalls, operationsOf } from "./api-document.ts";
import type { BrowserDashboard, DashboardProps } from "./browser-dashboard.ts";
import { perform } from "./fetch-calls.ts";
import { MethodName, OperationForm } from "./operation-form.tsx";

/**
 * The operations of each API, or the reason why they could not be fetched. They are fetched once, because the documents
 * do not change during a run.
 */
const loaded: Partial<Record<ApiName, readonly ApiOperation[] | string>> = {};

async function load({ state, change }: BrowserDashboard, api: ApiName): Promise<void> {
  const reply = perform(state.target, documentCalls[api]);
  loaded[api] = await reply
    .then(({ body }) => operationsOf(api, body as unknown as ApiDocument))
    .catch(({ message }: Error) => message);
  change(update);
}

export function ExplorerView({ dashboard }: DashboardProps) {
  // The address of the page names the API and the operation.
  const [named = "service", chosen] = dashboard.state.operation?.split(/ (.*)/) ?? [];
  const api: ApiName = named === "control" ? "control" : "service";
  const choose = (next: ApiName, id = "") =>
    dashboard.change((before) => update({ ...before, operation: `${next} ${id}` }));
  const [search, setSearch] = useState("");
  const operations = typeof loaded[api] === "object" ? loaded[api] : [];
  useEffect(() => {
    if (operations.length === 0) void load(dashboard, api);
  }, [api]);
  const words = search.toLowerCase().split(/\s+/);
  const textOf = ({ id, path, summary, method }: ApiOperation) => `${id} ${method} ${path} ${summary}`.toLowerCase();
  const found = operations.filter((one) => words.every((word) => textOf(one).includes(word)));
  const operation = operations.find(({ id }) => id === chosen) ?? operations[0];
  return (
    <section class="explorer" aria-label="Explorer">
      <div class="operations">
        <h2>Operations</h2>
        <select aria-label="API" value={api} onChange={({ currentTarget }) => choose(currentTarget.value as ApiName)}>
          <option value="service">Service</option>
          <option value="control">Control API</option>
        </select>
        <input
          type="search"
          aria-label="Find an operation"
          placeholder="Find an operation"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        {/* Takes the place of the list where there is no room for one. */}
        <select
          aria-label="Operation"
          value={operation?.id}
          onChange={({ currentTarget }) => choose(api, currentTarget.value)}
        >
          {found.map(({ id, area, summary }) => (
            <option key={id} value={id}>
              {area}: {summary}
            </option>
          ))}
        </select>
        <nav class="operation-list" aria-label="Operations">
          {[...grouped(found, ({ area }) => area)].map(([area, ofArea]) => (
            <div key={area}>
              <h3>{area}</h3>
              {ofArea.map(({ id, method, summary }) => (
                <button
                  key={id}
                  type="button"
                  aria-current={id === operation?.id ? "true" : undefined}
                  title={id}
                  onClick={() => choose(api, id)}
                >
                  <MethodName name={method} /> {summary}
                </button>
              ))}
            </div>
          ))}
          {found.length === 0 && <p class="hint">No operation is found.</p>}
        </nav>
        {typeof loaded[api] === "string" && <p class="problem">{loaded[api]}</p>}
      </div>
      {operation && (
        <OperationForm key={`${operation.api} ${operation.id}`} dashboard={dashboard} operation={operation} />
      )}
    </section>
  );
}
