// The same recording as each tool writes it. Browsers, proxies and test runners use different names and encodings, and
// leave out different parts.

import { createHash } from "node:crypto";

interface NameAndValue {
  name: string;
  value: string;
}

interface BodyText {
  mimeType: string;
  text?: string | undefined;
  [more: string]: unknown;
}

interface Message {
  httpVersion: string;
  headers: NameAndValue[];
  [more: string]: unknown;
}

/** An entry as the session writes it. Tools add their own fields. */
export interface HarEntry {
  startedDateTime: string;
  request: Message & { method: string; url: string; postData?: BodyText };
  response: Message & { status: number; content: BodyText };
  [more: string]: unknown;
}

export interface ToolForm {
  tool: string;
  /** What the tool leaves out. Such a recording shows fewer facts. */
  lacks?: "Authorization" | "bodies";
  log: object;
  entry(entry: HarEntry, files: Map<string, string>): void;
}

const inBase64 = (content: BodyText) =>
  Object.assign(content, { text: Buffer.from(content.text ?? "").toString("base64"), encoding: "base64" });

const capitals = (name: string) => name.replace(/(^|-)\w/g, (letter) => letter.toUpperCase());

function renameHeaders({ request, response }: HarEntry, change: (name: string) => string): void {
  for (const header of [...request.headers, ...response.headers]) header.name = change(header.name);
}

const addHeaders = (message: Message, headers: Record<string, string>) => {
  message.headers.push(...Object.entries(headers).map(([name, value]) => ({ name, value })));
};

/** Chrome over HTTP/2. Its sanitised export, the default, leaves out Authorization and cookies. */
function chrome(entry: HarEntry): void {
  const { request, response } = entry;
  const { pathname, host } = new URL(request.url);
  Object.assign(entry, {
    ...{
      _connectionId: "4711",
      _initiator: { type: "script", stack: { callFrames: [] } },
      _priority: "High",
      _resourceType: "fetch",
    },
    ...{ connection: "443", pageref: "page_1", serverIPAddress: "203.0.113.7" },
    timings: {
      blocked: 1.2,
      dns: -1,
      ssl: -1,
      connect: -1,
      send: 0.1,
      wait: 20,
      receive: 1,
      _blocked_queueing: 1,
      _workerStart: -1,
    },
  });
  request.httpVersion = response.httpVersion = "http/2.0";
  renameHeaders(entry, (name) => name.toLowerCase());
  addHeaders(request, {
    ":authority": host,
    ":method": request.method,
    ":path": pathname,
    ":scheme": "https",
    "sec-fetch-mode": "cors",
  });
  Object.assign(response, { _transferSize: 700, _error: null, _fetchedViaServiceWorker: false });
}

const withoutHeader = (message: Message, name: string) => {
  message.headers = message.headers.filter((header) => header.name !== name);
};

function firefox(entry: HarEntry): void {
  const { request, response } = entry;
  Object.assign(entry, {
    _securityState: "secure",
    connection: "443",
    pageref: "page_1",
    serverIPAddress: "203.0.113.7",
  });
  // Firefox writes times in the time zone of the machine.
  entry.startedDateTime = `${new Date(Date.parse(entry.startedDateTime) + 3_600_000).toISOString().slice(0, -1)}+01:00`;
  renameHeaders(entry, capitals);
  request.httpVersion = response.httpVersion = "HTTP/2";
  if (request.postData) Object.assign(request.postData, { params: [] });
  request.bodySize = Buffer.byteLength(request.postData?.text ?? "");
}

function safari(entry: HarEntry): void {
  Object.assign(entry, { _fetchType: "Network Load", _priority: "medium", pageref: "page_0", connection: "12" });
  entry.request.httpVersion = entry.response.httpVersion = "";
  renameHeaders(entry, capitals);
  Object.assign(entry.response.content, { compression: 0 });
}

/** `mitmdump --set hardump=` writes microseconds, timings of -1, and a body for each POST. */
function mitmproxy(entry: HarEntry): void {
  const { request, response } = entry;
  entry.startedDateTime = entry.startedDateTime.replace("Z", "123+00:00");
  Object.assign(entry, {
    timings: { connect: -1, ssl: null, send: 0, receive: 0, wait: -1 },
    serverIPAddress: "203.0.113.7",
  });
  request.bodySize = Buffer.byteLength(request.postData?.text ?? "");
  if (request.method === "POST")
    request.postData = { mimeType: "", ...request.postData, text: request.postData?.text ?? "", params: [] };
  addHeaders(response, { "content-encoding": "gzip" });
}

function playwright(entry: HarEntry): void {
  Object.assign(entry, { _frameref: "frame@1", _monotonicTime: 3.2, _resourceType: "fetch", _securityDetails: {} });
  addHeaders(entry.request, { ":authority": "api.service.example", "sec-ch-ua-mobile": "?0" });
  if (entry.request.postData) Object.assign(entry.request.postData, { params: [] });
}

/** Moves a body to a file named after its digest, as `content: "attach"` does. */
function attached(body: BodyText | undefined, files: Map<string, string>): void {
  if (body?.text === undefined) return;
  const file = `${createHash("sha1").update(body.text).digest("hex")}.json`;
  files.set(file, body.text);
  Object.assign(body, { _file: file, text: "" });
}

function proxyman(entry: HarEntry): void {
  Object.assign(entry, {
    _id: "1",
    _name: "",
    _isHTTPS: true,
    _clientName: "node",
    _isIntercepted: false,
    comment: "",
    _serverPort: 443,
  });
  renameHeaders(entry, capitals);
  inBase64(entry.response.content);
}

/** A reverse proxy. The recorded calls go to the proxy's own address. */
function redocly({ request }: HarEntry): void {
  addHeaders(request, { host: "127.0.0.1:4040", connection: "keep-alive" });
  request.url = request.url.replace("https://api.service.example", "http://127.0.0.1:4040");
}

const creator = (name: string) => ({ version: "1.2", creator: { name, version: "1" } });

export const toolForms: readonly ToolForm[] = [
  {
    tool: "Chrome, with sensitive data",
    log: { ...creator("WebInspector"), pages: [{ id: "page_1", title: "Shop" }] },
    entry: chrome,
  },
  {
    tool: "Chrome",
    lacks: "Authorization",
    log: { ...creator("WebInspector"), pages: [] },
    entry(entry) {
      chrome(entry);
      for (const name of ["authorization", "cookie"]) withoutHeader(entry.request, name);
      withoutHeader(entry.response, "set-cookie");
    },
  },
  {
    tool: "Chrome, after it has evicted the bodies",
    lacks: "bodies",
    log: creator("WebInspector"),
    entry(entry) {
      chrome(entry);
      delete entry.response.content.text;
    },
  },
  {
    tool: "Firefox",
    log: { ...creator("Firefox"), browser: { name: "Firefox", version: "140" }, pages: [] },
    entry: firefox,
  },
  {
    tool: "Firefox without response bodies",
    lacks: "bodies",
    log: creator("Firefox"),
    entry(entry) {
      firefox(entry);
      Object.assign(entry.response.content, { text: undefined, comment: "Response bodies are not included." });
    },
  },
  { tool: "Safari", log: { ...creator("WebKit Web Inspector"), pages: [] }, entry: safari },
  { tool: "mitmproxy", log: { ...creator("mitmproxy exporthar"), pages: [] }, entry: mitmproxy },
  {
    tool: "mitmproxy, with bodies that it treats as binary",
    log: creator("mitmproxy exporthar"),
    entry(entry) {
      mitmproxy(entry);
      inBase64(entry.response.content);
    },
  },
  {
    tool: "Playwright with content: embed",
    log: { ...creator("Playwright"), browser: {}, pages: [] },
    entry: playwright,
  },
  {
    tool: "Playwright with content: attach",
    log: creator("Playwright"),
    entry(entry, files) {
      playwright(entry);
      attached(entry.request.postData, files);
      attached(entry.response.content, files);
    },
  },
  {
    tool: "Playwright with content: omit",
    lacks: "bodies",
    log: creator("Playwright"),
    entry(entry) {
      playwright(entry);
      delete entry.response.content.text;
      if (entry.request.postData) entry.request.postData.text = "";
    },
  },
  {
    tool: "Playwright with mode: minimal",
    log: creator("Playwright"),
    entry(entry) {
      playwright(entry);
      entry.timings = { send: -1, wait: -1, receive: 20 };
    },
  },
  { tool: "Proxyman", log: creator("Proxyman"), entry: proxyman },
  { tool: "redocly proxy", log: creator("Redocly CLI"), entry: redocly },
];

/** The recording as the tool writes it, and the files that the tool writes beside the recording. */
export function inFormOf({ log, entry }: ToolForm, har: object): { text: string; files: ReadonlyMap<string, string> } {
  const { entries } = (structuredClone(har) as { log: { entries: HarEntry[] } }).log;
  const files = new Map<string, string>();
  for (const one of entries) entry(one, files);
  return { text: JSON.stringify({ log: { ...log, entries } }), files };
}
