// Takes the pictures of the README: the built program in a real pseudo-terminal, with real calls and a real receiver.

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { screenPicture } from "./screen-picture.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "docs/pictures");
const PORT = 4747;
const HOOKS = 3000;
const SIZE = { cols: 120, rows: 36 };
/** The smallest usual terminal, a common one, and a large one. */
const SIZES = [
  [80, 24],
  [220, 60],
  [120, 36],
];
const PATIENCE = 20_000;

const terminal = new headless.Terminal({ ...SIZE, allowProposedApi: true });
const program = spawn(process.execPath, [join(root, "dist/bin.cjs"), "--memory", "--port", String(PORT), "--ui"], {
  name: "xterm-256color",
  cols: SIZE.cols,
  rows: SIZE.rows,
  cwd: root,
  env: { ...process.env, LANG: "C.UTF-8", NO_COLOR: "" },
});
program.onData((data) => terminal.write(data));
const press = (keys) => program.write(keys);

const screen = () =>
  Array.from(
    { length: terminal.rows },
    (_, row) => terminal.buffer.active.getLine(terminal.buffer.active.viewportY + row)?.translateToString(true) ?? "",
  ).join("\n");

/** Resolves when the screen shows the text. */
function shows(wanted) {
  return new Promise((resolve, reject) => {
    const tired = setTimeout(() => reject(new Error(`The screen never showed ${wanted}:\n${screen()}`)), PATIENCE);
    const look = () => {
      if (!wanted.test(screen())) return;
      clearTimeout(tired);
      listening.dispose();
      resolve();
    };
    const listening = terminal.onWriteParsed(look);
    look();
  });
}

async function call(method, path, body, { key = "sk_test_lodge", idempotencyKey } = {}) {
  const headers = {
    ...(path.startsWith("/v1") ? { Authorization: `Bearer ${key}` } : {}),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
  };
  const answer = await fetch(`http://127.0.0.1:${PORT}${path}`, { method, headers, body: body && JSON.stringify(body) }).catch(
    (error) => error,
  );
  return answer instanceof Error ? answer : answer.json().catch(() => undefined);
}

/** Fails the first deliveries. */
function receiver() {
  let failures = 2;
  return createServer((incoming, outgoing) => {
    incoming.resume().on("end", () => outgoing.writeHead(failures-- > 0 ? 503 : 200).end());
  }).listen(HOOKS, "localhost");
}

const SHADES = ["dark", "light"];

function take(name, title) {
  if (/Fetching|Loading/.test(screen())) throw new Error(`${name} is still loading:\n${screen()}`);
  mkdirSync(folder, { recursive: true });
  for (const shade of SHADES) {
    writeFileSync(join(folder, `${name}-${shade}.svg`), screenPicture(terminal, title, shade));
    process.stdout.write(`docs/pictures/${name}-${shade}.svg\n`);
  }
}

/** Resizes the terminal, and resolves when the program has painted all of it. */
async function resize(cols, rows) {
  terminal.resize(cols, rows);
  terminal.write("\x1b[2J");
  program.resize(cols, rows);
  await shows(new RegExp(`^.*LIVE.*\\n(?:.*\\n){${rows - 2}}.*q quit *$`));
}

async function business() {
  await call("POST", "/v1/webhooks", { url: `http://localhost:${HOOKS}/hooks`, events: ["*"] });
  await call("POST", "/_sandbox/faults", {
    name: "too many payouts",
    match: { operation: "payouts.list" },
    action: { type: "rate_limit", retryAfter: 2 },
    trigger: { times: 3 },
    ttl: "10m",
  });
  await call("POST", "/_sandbox/faults", {
    name: "lost payroll",
    match: { operation: "payroll.create" },
    action: { type: "lost_response", as: "reset" },
  });
  await call("PUT", "/_sandbox/rate-limits/mer_market", { remaining: 0, resetIn: "40s" });
  await call("GET", "/v1/payments?limit=25");
  await call("GET", "/v1/payouts", undefined, { key: "sk_test_market" });
  const item = { employeeId: "emp_marta", employeeName: "Marta Gonçalves", grossAmount: 260_000, deductions: [] };
  const payroll = { periodStart: "2026-01-01", periodEnd: "2026-01-31", payDate: "2026-01-28", currency: "EUR", items: [item] };
  for (const _ of ["lost", "again"]) await call("POST", "/v1/employees/payroll", payroll, { idempotencyKey: "payroll-2026-01" });
  await call("GET", "/v1/payouts?limit=5");
  await call("GET", "/v1/payouts?limit=5");
  await call("GET", "/v1/customers/cus_nobody");
  await call("POST", "/v1/webhook-events/test", { type: "payout.paid", data: { id: "po_001" } });
}

const hooks = receiver();
try {
  await shows(/LIVE/);
  await business();
  await shows(/next in|delivered/);
  await shows(/spent/);
  for (const [cols, rows] of SIZES) {
    await resize(cols, rows);
    if (cols >= 160) await shows(/"object": /);
    take(`dashboard-${cols}x${rows}`, `The dashboard of merchant-sandbox on a terminal of ${cols} columns and ${rows} rows`);
  }
  press("kkkkk\r");
  // Only the loaded detail has the stages.
  await shows(/operation +[\d.]+ ms/);
  take("detail", "One request in detail: headers, bodies, what it made happen");
  press("q");
  press("x");
  await shows(/Arm a fault/);
  take("faults", "Arming a fault from the dashboard");
} finally {
  program.kill();
  hooks.close();
  hooks.closeAllConnections();
}
