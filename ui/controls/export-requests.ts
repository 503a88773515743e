// Saves the listed requests as a HAR file, for any viewer. Secrets are masked as in the details.

import type { RequestDetail } from "../../generated/control-api.ts";
import type { HttpReply } from "../../src/client/http-exchange.ts";
import { isoTime } from "../../src/kernel/clock.ts";
import { mask, maskValue } from "../../src/kernel/mask.ts";
import { requestCall } from "../details/request.ts";
import { filteredRows } from "../state/list.ts";
import { listOf, type RowKey, type StateUpdate, sandboxNow, type UiState } from "../state/state.ts";
import { update, withNotice } from "../state/updates.ts";
import { count, counted } from "../view/format.ts";

/** Without a key of its own: the palette runs it. */
export const exportKey: RowKey<unknown> = { keys: [], help: "export the rows as a HAR file", run: exportRows };

function exportRows(state: UiState): StateUpdate {
  const ids = filteredRows(listOf(state, "requests")).flatMap(({ id, gap }) => (gap ? [] : [id]));
  const time = isoTime(sandboxNow(state)).slice(0, 19).replaceAll(/[-:]/g, "");
  return update(withNotice(state, `Exporting ${counted(ids.length, "request")} …`, "dim"), {
    kind: "task",
    async run({ target, perform, saveFile }) {
      const requests = await fetchAll((id) => perform(target, requestCall(id)), ids);
      const log = {
        version: "1.2",
        creator: { name: "merchant-sandbox", version: "1" },
        entries: requests.map((one) => entryOf(one, target.url)),
      };
      const file = await saveFile(`requests-${time}`, "har", `${JSON.stringify({ log }, null, 2)}\n`);
      const missing = ids.length - requests.length;
      const gap = missing === 0 ? "" : `; ${count(missing)} more are no longer in the request log`;
      return (later) => withNotice(later, `Wrote ${counted(requests.length, "request")} to ${file}${gap}`);
    },
  });
}

/** How many requests are fetched at once. */
const BATCH = 8;

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

function entryOf({ id, at, method, path, query, status, durationMs, fault, request, response }: RequestDetail, url: string) {
  const search = query.replace(/^\?/, "");
  const messageOf = ({ headers, bytes }: RequestDetail["request"]) => ({
    ...{ httpVersion: "HTTP/1.1", cookies: [], headersSize: -1, bodySize: bytes },
    headers: Object.entries(maskValue(headers) as object).map(([name, value]) => ({ name, value: String(value) })),
  });
  const contentOf = ({ headers, body }: RequestDetail["request"]) => ({
    mimeType: String(headers["content-type"] ?? ""),
    text: mask(body),
  });
  return {
    startedDateTime: at,
    time: durationMs,
    comment: fault === null ? id : `${id}, affected by ${fault}`,
    request: {
      ...{ method, url: mask(url + path + (search === "" ? "" : `?${search}`)), ...messageOf(request) },
      queryString: [...new URLSearchParams(search)].map(([name, value]) => ({ name, value: mask(value) })),
      ...(request.body !== "" && { postData: contentOf(request) }),
    },
    response: {
      ...{ status, statusText: "", redirectURL: "", ...messageOf(response) },
      content: { size: response.bytes, ...contentOf(response) },
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
  };
}
