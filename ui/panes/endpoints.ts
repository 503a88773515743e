// The pane of webhook endpoints: where each merchant's events go, the last result, and the keys that act on them.

import type { ListedEndpoint } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { Call } from "../../src/client/curl.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { maskKey } from "../../src/kernel/mask.ts";
import { apiKeysOf, listed, listOf, type StateUpdate, shortMerchant, type UiState, valuesOf } from "../state/state.ts";
import { copyText, makeCall } from "../state/updates.ts";
import { count, countNote, dateTimeToSecond, milliseconds, plural } from "../text/format.ts";
import { symbols, type TextStyle } from "../text/style.ts";
import { copyApiKey } from "./controls/sandbox-forms.ts";
import { failedDeliveries } from "./deliveries.ts";
import { linkTo } from "./details/detail-lines.ts";
import { resultOf } from "./details/row-lines.ts";
import { confirmCall } from "./overlays/text-view.ts";
import { listPane, programCommand } from "./pane.ts";

const PANE = "endpoints";
const MAX_LINKS = 10;

const isFailing = ({ health: { state } }: ListedEndpoint) => state === "failing" || state === "disabled";

/** `✗ failing 500`, `✓ healthy 200`, `~ degraded timeout`. */
function healthText(state: UiState, { health }: ListedEndpoint): string {
  const { good, bad, unsure } = symbols(state.theme);
  const marks: Readonly<Record<string, string>> = { healthy: good, degraded: unsure, failing: bad, disabled: bad };
  return [marks[health.state], health.state, health.lastResponseStatus ?? health.lastError].filter(Boolean).join(" ");
}

/**
 * The health, and how many deliveries failed for good: the health depends only on the last attempt, which may be of
 * another event.
 */
function resultText(state: UiState, endpoint: ListedEndpoint): string {
  const failed = failedDeliveries(listOf(state, "deliveries").rows).filter(
    ({ endpointId }) => endpointId === endpoint.id,
  );
  return [healthText(state, endpoint), countNote(failed.length, "failed")].filter(Boolean).join(", ");
}

const typesText = ({ events }: ListedEndpoint) => (events.includes("*") ? "all types" : plural(events.length, "type"));

const healthStyles = (endpoint: ListedEndpoint): TextStyle[] => (isFailing(endpoint) ? ["failure"] : ["dim"]);

export const endpoints = listPane<ListedEndpoint>({
  name: PANE,
  title: "Endpoints",
  rowId: ({ id }) => id,
  filterBy: ({ id, url, merchant, status, health }) => ({
    text: `${url} ${id} ${merchant} ${status} ${health.state}`,
    fields: { id, path: url, merchant, status, health: health.state },
  }),
  // Declared here, so that `m` can set a merchant filter while the list is empty.
  vocabulary: { fields: ["id", "path", "merchant", "status", "health"], marks: [] },
  poll: controlCalls.endpoints.list(),
  titleNote: (state) => countNote(valuesOf<ListedEndpoint>(state, PANE).filter(isFailing).length, "failing"),
  columns: (endpoint, state) => [
    { heading: "endpoint", text: endpoint.url, claim: 44, rank: 1, grows: true },
    { heading: "last result", text: resultText(state, endpoint), styles: healthStyles(endpoint) },
    { heading: "events", text: typesText(endpoint), rank: 4, align: "right" },
    { heading: "pending", text: count(endpoint.health.pendingDeliveries), rank: 3, align: "right" },
    { heading: "merchant", text: shortMerchant(endpoint.merchant), rank: 2, truncate: "middle" },
    { heading: "secret", text: maskKey(endpoint.secret), rank: 5, styles: ["dim"] },
  ],
  emptyText: (state) => ["No endpoints. Run:", "", programCommand(state, "listen --forward-to localhost:3000/hooks")],
  detail: (opened) => ({
    title: `Endpoint ${opened.url}`,
    lines(_data, { band, field, section, text }, state) {
      const newest = listed(state, PANE, opened);
      const { id, merchant, url, events, secret, status, health, created } = newest ?? opened;
      const attempts = valuesOf<AttemptMessage>(state, "deliveries").filter(({ endpointId }) => endpointId === id);
      return [
        ...band(newest ? healthText(state, newest) : "removed", !newest || isFailing(newest)),
        "",
        ...field("id", id),
        ...field("url", url),
        ...field("merchant", merchant),
        ...field("status", health.disabledReason === null ? status : `${status}: ${health.disabledReason}`),
        ...field("secret", `${maskKey(secret)} (Y copies the whole secret)`),
        ...field("created", dateTimeToSecond(milliseconds(created))),
        ...field("last error", health.lastError),
        ...field("24 hours", `${count(health.succeeded24h)} succeeded, ${count(health.failed24h)} failed`),
        ...section("Events", text(events.join(", "))),
        ...section(
          "Newest attempts, oldest first",
          attempts
            .slice(-MAX_LINKS)
            .flatMap((one) =>
              linkTo(
                "deliveries",
                one.id,
                field(
                  resultOf(one),
                  `${one.eventType}  ${one.trigger === "replay" ? "replay" : `attempt ${one.attempt}`}`,
                ),
              ),
            ),
        ),
      ];
    },
  }),
  keys: [
    {
      keys: ["Y"],
      label: "copy secret",
      help: "copy the endpoint's secret",
      run: (state, { secret }) => copyText(state, secret, "the secret"),
    },
    {
      keys: ["i"],
      label: "send test",
      help: "send a test event to the endpoint's merchant",
      isEnabled: (state, { merchant }) => apiKeysOf(state, merchant).length > 0,
      needs: "a merchant with an API key",
      run: sendTest,
    },
    {
      keys: ["K"],
      label: "rotate secret",
      help: "rotate the endpoint's secret after a confirmation, and copy the new secret",
      isEnabled: (state, { merchant }) => apiKeysOf(state, merchant).length > 0,
      needs: "a merchant with an API key",
      run: rotate,
    },
    {
      keys: ["z"],
      label: "disable, enable",
      help: "disable the endpoint, as its receiver does with a 410, or enable it again",
      run: toggle,
    },
    {
      keys: ["d"],
      label: "remove",
      help: "remove the endpoint; its pending deliveries are cancelled",
      run: (state, { id, url }) =>
        confirmCall(
          state,
          { question: `Remove the endpoint ${url}?`, action: "Remove the endpoint" },
          controlCalls.endpoints.remove({ id }),
          () => ({ message: `Removed ${url}` }),
        ),
    },
    copyApiKey(({ merchant }) => merchant),
  ],
});

/**
 * Disabling an endpoint cancels its pending deliveries, and enabling does not restore them. So the key first asks for
 * confirmation if there are any.
 */
function toggle(state: UiState, opened: ListedEndpoint): StateUpdate {
  const { id, url, status, health } = listed(state, PANE, opened) ?? opened;
  const { disable, enable } = controlCalls.endpoints;
  if (status !== "enabled")
    return makeCall(state, enable({ id }), () => ({ message: `Enabled ${url}`, undo: disable({ id }) }));
  const disabled = () => ({
    message: `Disabled ${url}: nothing is sent to it. Press z to enable it`,
    undo: enable({ id }),
    undoLabel: `${url} is enabled again`,
  });
  const { pendingDeliveries: pending } = health;
  if (pending === 0) return makeCall(state, disable({ id }), disabled);
  const lost = pending === 1 ? "its pending delivery is" : `its ${count(pending)} pending deliveries are`;
  const confirmation = {
    question: `Disable ${url}? Then ${lost} cancelled.`,
    action: "Disable the endpoint",
    refusal: "Keep it enabled",
  };
  return confirmCall(state, confirmation, disable({ id }), disabled);
}

interface ServiceReply {
  secret?: string;
  message?: string;
}

/** A call of the service with the first API key of the endpoint's merchant. */
const callFor = (state: UiState, merchant: string, path: string, body?: object): Call<ServiceReply> => ({
  method: "POST",
  path: `/v1${path}`,
  key: apiKeysOf(state, merchant)[0] ?? null,
  headers: {},
  ...(body && { body }),
});

function sendTest(state: UiState, { merchant, events }: ListedEndpoint): StateUpdate {
  // Patterns such as `*` name no single type.
  const type = events.find((one) => !one.includes("*")) ?? "payment.succeeded";
  return makeCall(state, callFor(state, merchant, "/webhook-events/test", { type }), ({ message }, status) => ({
    message: status < 400 ? `Sent a test ${type} to the endpoints of ${merchant}` : `${status}: ${message}`,
    undo: null,
  }));
}

function rotate(state: UiState, { id, url, merchant }: ListedEndpoint): StateUpdate {
  const call = callFor(state, merchant, `/webhooks/${id}/rotate-secret`);
  const confirmation = {
    question: `Rotate the secret of ${url}? Its receiver then has to verify with the new one.`,
    action: "Rotate the secret",
  };
  return confirmCall(state, confirmation, call, ({ secret, message }, status) =>
    secret === undefined
      ? { message: `${status}: ${message}`, undo: null }
      : { message: `Rotated the secret of ${url}, and copied the new one. Press ! to show it`, copy: secret },
  );
}
