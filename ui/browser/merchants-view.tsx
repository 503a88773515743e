// The merchants of the sandbox: their API keys, their rate limits, and what is going on in the background.

import type { RateWindow } from "../../src/client/control-plane.generated.ts";
import { copyText, shortMerchant, valuesOf } from "../state/state.ts";
import { count } from "../view/format.ts";
import type { BrowserDashboard } from "./browser-dashboard.ts";

export function MerchantsView({ dashboard }: { dashboard: BrowserDashboard }) {
  const { state, press } = dashboard;
  const merchants = state.sandbox?.merchants ?? [];
  const windows = valuesOf<RateWindow>(state, "limits").filter(({ operation }) => operation === null);
  return (
    <section class="view" tabIndex={0} aria-label="Merchants">
      <div class="list-head">
        <h2>Merchants</h2>
        <span class="note">{count(merchants.length)}</span>
        <span class="space" />
        <button type="button" onClick={() => press("m")}>
          Create <kbd>m</kbd>
        </button>
        <button type="button" onClick={() => press("w")}>
          Rate limit <kbd>w</kbd>
        </button>
        <button type="button" onClick={() => press("T")}>
          Traffic <kbd>T</kbd>
        </button>
        <button type="button" onClick={() => press("X")}>
          Reset <kbd>X</kbd>
        </button>
      </div>
      <div class="table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>merchant</th>
              <th>name</th>
              <th>API keys</th>
              <th>rate limit</th>
              <th>traffic</th>
            </tr>
          </thead>
          <tbody>
            {merchants.map(({ id, name, apiKeys }) => {
              const window = windows.find(({ merchant }) => merchant === id);
              const traffic = state.sandbox?.traffic.find(({ merchant }) => merchant === id);
              return (
                <tr key={id}>
                  <th scope="row">{shortMerchant(id)}</th>
                  <td class="name">{name}</td>
                  <td>
                    {apiKeys.map((key) => (
                      <CopyButton key={key} dashboard={dashboard} text={key} what={`the API key of ${id}`} />
                    ))}
                  </td>
                  <td>
                    {window && (
                      <>
                        <Meter value={window.remaining} of={window.limit} /> {count(window.remaining)} of {count(window.limit)}
                      </>
                    )}
                  </td>
                  <td>{traffic ? `${traffic.rate}, ${count(traffic.happened)} records` : <span class="dim">none</span>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const CopyButton = ({ dashboard, text, what }: { dashboard: BrowserDashboard; text: string; what: string }) => (
  <button type="button" class="copy" title={`Copy ${what}`} onClick={() => dashboard.change((state) => copyText(state, text, what))}>
    <code>{text}</code>
  </button>
);

const Meter = ({ value, of }: { value: number; of: number }) => (
  <svg class={`meter ${value === 0 ? "red" : value < of / 5 ? "yellow" : "green"}`} viewBox="0 0 60 6" aria-hidden="true">
    <rect class="track" width="60" height="6" rx="3" />
    <rect width={of === 0 ? 0 : (60 * value) / of} height="6" rx="3" />
  </svg>
);
