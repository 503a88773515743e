// One request, whole: both messages, what it made happen, and what the judge says of it.

import type { RequestMessage } from "../../src/kernel/messages.ts";
import { openDetail } from "../overlays/detail.ts";
import type { State } from "../state/state.ts";
import { bodyLines, fact, headerLines, heading } from "./text.ts";

interface Whole {
  request: Message;
  response: Message;
  events: { id: string; type: string }[];
}

interface Message {
  headers: Record<string, unknown>;
  body: string;
  bytes: number;
}

export const requestDetail = (_: State, request: RequestMessage) =>
  openDetail<{ whole: Whole }>({
    title: `${request.method} ${request.path}`,
    asks: { whole: { method: "GET", path: `/requests/${encodeURIComponent(request.id)}` } },
    lines: ({ whole }, { look }, width) => [
      ...fact(look, width, "id", request.id),
      ...fact(look, width, "status", String(request.status)),
      ...(whole
        ? [
            ...heading(look, "Request"),
            ...headerLines(width, whole.request.headers),
            ...bodyLines(look, width, whole.request.body, whole.request.bytes),
            ...heading(look, "Answer"),
            ...headerLines(width, whole.response.headers),
            ...bodyLines(look, width, whole.response.body, whole.response.bytes),
          ]
        : ["", "Fetching …"]),
    ],
  });
