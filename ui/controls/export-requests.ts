// Saves the listed requests as a file: as HAR, or as a shell script of curl commands. Secrets are masked as in the details.

import type { RequestDetail } from "../../generated/control-api.ts";
import type { HttpReply } from "../../src/client/http-exchange.ts";
import type { HttpTarget } from "../../src/client/http-transport.ts";
import { isoTime } from "../../src/kernel/clock.ts";
import { mask, maskValue } from "../../src/kernel/mask.ts";
import { curlOf } from "../connection/calls.ts";
import { requestCall } from "../details/request.ts";
import { filteredRows } from "../state/list.ts";
import { listOf, type RowKey, type StateUpdate, sandboxNow, type UiState, update, withNotice } from "../state/state.ts";
import { count, counted } from "../view/format.ts";
import { callOf, maskedKeyOf, REQUEST_HEADERS } from "./request-call.ts";

type Format = (requests: readonly RequestDetail[], target: HttpTarget) => string;

/** How many requests are fetched at once. */
const BATCH = 8;

/** Without keys of their own: the palette runs them. */
export const exportKeys: readonly RowKey<unknown>[] = [
  { keys: [], help: "export the rows as a HAR file", run: (state) => exportRows(state, "har", harOf) },
  { keys: [], help: "export the rows as a shell script of curl commands", run: (state) => exportRows(state, "sh", scriptOf) },
];

function exportRows(state: UiState, extension: string, format: Format): StateUpdate {
  const ids = filteredRows(listOf(state, "requests")).flatMap(({ id, gap }) => (gap ? [] : [id]));
  const time = isoTime(sandboxNow(state)).slice(0, 19).replaceAll(/[-:]/g, "");
  return update(withNotice(state, `Exporting ${counted(ids.length, "request")} …`, "dim"), {
    kind: "task",
    async run({ target, perform, saveFile }) {
      const requests = await fetchAll((id) => perform(target, requestCall(id)), ids);
      const file = await saveFile(`requests-${time}`, extension, format(requests, target));
      const missing = ids.length - requests.length;
      const gap = missing === 0 ? "" : `; ${count(missing)} more are no longer in the request log`;
      return (later) => withNotice(later, `Wrote ${counted(requests.length, "request")} to ${file}${gap}`);
    },
  });
}

/** The requests that the request log still has, in order. */
async function fetchAll(fetchOne: (id: string) => Promise<HttpReply<RequestDetail>>, ids: readonly string[]): Promise<RequestDetail[]> {
  const found: RequestDetail[] = [];
  for (let start = 0; start < ids.length; start += BATCH) {
    const batch = ids.slice(start, start + BATCH).map((id) => fetchOne(id).catch(onlyIfMissing));
    for (const reply of await Promise.all(batch)) if (reply) found.push(reply.body);
  }
  return found;
}

/** A request that the request log no longer has is left out; any other error ends the export. */
function onlyIfMissing(error: Error): undefined {
  if (!/no request/i.test(error.message)) throw error;
}

const scriptOf: Format = (requests, target) => {
  const variables = new Map(requests.flatMap(({ merchant }) => (merchant === null ? [] : [[variableOf(merchant), merchant] as const])));
  const needed = [...variables].map(([name, merchant]) => `: "\${${name}:?Set ${name} to an API key of ${merchant}}"`);
  const calls = requests.flatMap((request) => {
    const masked = maskedKeyOf(request);
    const curl = curlOf(target, callOf(request, masked, REQUEST_HEADERS));
    const { merchant } = request;
    const known =
      merchant === null || masked === null
        ? curl
        : curl.replace(`'Authorization: Bearer ${masked}'`, `"Authorization: Bearer $${variableOf(merchant)}"`);
    return ["", `# ${request.id}: ${request.status || "no response"}`, known];
  });
  return `${["#!/bin/sh", `# ${counted(requests.length, "request")} of ${target.url}`, ...needed, ...calls].join("\n")}\n`;
};

const variableOf = (merchant: string) => `API_KEY_${merchant.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;

const harOf: Format = (requests, target) =>
  `${JSON.stringify({ log: { version: "1.2", creator: { name: "merchant-sandbox", version: "1" }, entries: requests.map((one) => entryOf(one, target)) } }, null, 2)}\n`;

function entryOf({ id, at, method, path, query, status, durationMs, fault, request, response }: RequestDetail, { url }: HttpTarget) {
  const search = query.replace(/^\?/, "");
  const mimeType = String(request.headers["content-type"] ?? "");
  return {
    startedDateTime: at,
    time: durationMs,
    comment: fault === null ? id : `${id}, affected by ${fault}`,
    request: {
      ...{ method, url: mask(url + path + (search === "" ? "" : `?${search}`)), httpVersion: "HTTP/1.1", cookies: [] },
      headers: headersOf(request.headers),
      queryString: [...new URLSearchParams(search)].map(([name, value]) => ({ name, value: mask(value) })),
      ...(request.body !== "" && { postData: { mimeType, text: mask(request.body) } }),
      ...{ headersSize: -1, bodySize: request.bytes },
    },
    response: {
      ...{ status, statusText: "", httpVersion: "HTTP/1.1", cookies: [], redirectURL: "" },
      headers: headersOf(response.headers),
      content: { size: response.bytes, mimeType: String(response.headers["content-type"] ?? ""), text: mask(response.body) },
      ...{ headersSize: -1, bodySize: response.bytes },
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
  };
}

const headersOf = (headers: Readonly<Record<string, unknown>>) =>
  Object.entries(maskValue(headers) as Readonly<Record<string, unknown>>).map(([name, value]) => ({ name, value: String(value) }));
