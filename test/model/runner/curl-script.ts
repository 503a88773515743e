// Prints a failing run as a bash script of curl commands that reproduces the difference.

import type { Request } from "../call.ts";
import type { Difference, InitialState, Line } from "./runner.ts";

/** Quotes a word for the shell; the address of the receivers becomes $RECEIVERS. */
function quoted(text: string, receivers: string): string {
  const word = `'${text.replaceAll("'", `'\\''`)}'`;
  return receivers === "" ? word : word.replaceAll(receivers, `'"$RECEIVERS"'`);
}

const iso = (time: number) => new Date(time).toISOString();

/** `receivers` is the address used in the run, such as http://127.0.0.1:4000; the script starts its own. */
export function curlScript(
  difference: Difference,
  { now, rateLimit, bodies }: InitialState,
  webhookTimeout: string,
  receivers: string,
): string {
  const lines = difference.lines;
  const options = `--life off --rate-limit ${rateLimit} --bodies ${bodies} --webhook-timeout ${webhookTimeout}`;
  const needsReceivers = lines.some((line) => line.line === "send" && line.request.body?.includes(receivers));
  const requests = lines.map((line, place) => printLine(line, place, place === lines.length - 1, receivers));
  return [
    "#!/usr/bin/env bash",
    "# The last request shows the difference between the sandbox and the model. The script starts its own sandbox with COMMAND (default:",
    "# npx merchant-sandbox). If the script has no restart, set URL to use a sandbox that is already running:",
    `# merchant-sandbox start --memory --clock ${iso(now)} ${options}`,
    "set -u",
    PROLOGUE.trim(),
    `OPTIONS="${options}"`,
    ...(needsReceivers ? [RECEIVERS.trim()] : []),
    `[ -n "\${URL:-}" ] || start ${iso(now)}`,
    "",
    ...requests,
    "",
    "echo",
    `echo ${quoted(`The model says: ${difference.expected}`, "")}`,
    `echo ${quoted(`What differs: ${difference.message}`, "")}`,
    "",
  ].join("\n");
}

function printLine(line: Line, place: number, isLast: boolean, receivers: string): string {
  if (line.line === "restart") {
    const under = line.during ? `${curl(line.during, receivers, "-m 5 -o /dev/null")} &\n` : "";
    return `# ${place + 1}. Kill the sandbox and restart it on the same file.\n${under}restart ${iso(line.now)}`;
  }
  const status = line.response?.status ?? "no response";
  if (!isLast) return `# ${place + 1}. ${status}\n${curl(line.request, receivers, "-o /dev/null")}`;
  return `# ${place + 1}. The difference: the sandbox responded ${status}.\n${curl(line.request, receivers, "-i")}`;
}

function curl({ method, path, headers, body }: Request, receivers: string, flags: string): string {
  const named = Object.entries(headers).map(([name, value]) =>
    value === "" ? `-H ${quoted(`${name};`, "")}` : `-H ${quoted(`${name}: ${value}`, "")}`,
  );
  const type = body !== undefined && headers["content-type"] === undefined ? ["-H 'content-type:'"] : [];
  const data = body === undefined ? [] : [`--data-raw ${quoted(body, receivers)}`];
  // Single quotes keep the path intact in the shell; --path-as-is keeps it intact in curl.
  return [`curl -sS --path-as-is ${flags} -X ${method} "$URL"${quoted(path, "")}`, ...named, ...type, ...data].join(" \\\n  ");
}

const PROLOGUE = `
FOLDER=$(mktemp -d)
start() {
  # The new process empties the log only once it runs: until then the log would give the address of the killed one.
  rm -f "$FOLDER/log"
  \${COMMAND:-npx merchant-sandbox} start --json --port 0 --db "$FOLDER/data.db" --clock "$1" $OPTIONS > "$FOLDER/log" 2>&1 &
  PID=$!
  until URL=$(sed -n 's/^{"event":"ready".*"url":"\\([^"]*\\)".*/\\1/p' "$FOLDER/log" 2> /dev/null) && [ -n "$URL" ]; do
    kill -0 "$PID" 2> /dev/null || { cat "$FOLDER/log"; exit 1; }
    sleep 0.1
  done
}
restart() {
  kill -9 "$PID"
  wait "$PID" 2> /dev/null
  start "$1"
}
end() {
  for pid in \${PID:-} \${RECEIVER:-}; do kill "$pid" 2> /dev/null; wait "$pid" 2> /dev/null; done
  rm -rf "$FOLDER"
}
trap end EXIT
`;

/** The receivers of the run in a few lines. The last part of the path selects the behaviour. */
const RECEIVERS = `
node -e '
const seen = new Map();
const statuses = { ok: () => 200, down: () => 500, again: (n) => (n ? 200 : 500), later: (n) => (n ? 200 : 503), gone: () => 410, moved: () => 302 };
const server = require("node:http").createServer((incoming, outgoing) => {
  const event = incoming.url + " " + incoming.headers["x-webhook-id"];
  const times = seen.get(event) ?? 0;
  seen.set(event, times + 1);
  incoming.resume();
  console.log(event, incoming.headers["x-webhook-event"]);
  const name = incoming.url.slice(incoming.url.lastIndexOf("/") + 1);
  if (name === "broken") outgoing.socket.destroy();
  if (statuses[name]) outgoing.writeHead(statuses[name](times), { "retry-after": "90", location: "/elsewhere/ok" }).end();
}).listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port));
' > "$FOLDER/receivers" &
RECEIVER=$!
until RECEIVERS=$(head -n 1 "$FOLDER/receivers" 2> /dev/null) && [ -n "$RECEIVERS" ]; do sleep 0.1; done
`;
