// Takes the pictures of the README: the built program in a real pseudo-terminal, and its page in a browser, with real
// calls and a real receiver.

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { pagePictures } from "./page-pictures.js";
import { PALETTES, screenPicture } from "./screen-picture.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "docs/pictures");
const PORT = 4747;
const HOOKS = 3000;
const SIZE = { cols: 120, rows: 36 };
/** The smallest usual terminal, a large terminal, and a common one. */
const SIZES = [
  [80, 24],
  [220, 60],
  [120, 36],
];
const PATIENCE = 20_000;

/** The terminal and the program of the current run. */
let terminal;
let program;

/**
 * Starts the program in a terminal. When the program asks for the terminal's colours, the terminal sends its palette.
 */
function open(shade) {
  terminal = new headless.Terminal({ ...SIZE, allowProposedApi: true });
  program = spawn(process.execPath, [join(root, "dist/bin.cjs"), "--memory", "--port", String(PORT), "--ui"], {
    name: "xterm-256color",
    cols: SIZE.cols,
    rows: SIZE.rows,
    cwd: root,
    env: { ...process.env, LANG: "C.UTF-8", NO_COLOR: "" },
  });
  const [screenOfRun, run] = [terminal, program];
  run.onData((data) => screenOfRun.write(data));
  for (const final of ["h", "l"]) {
    terminal.parser.registerCsiHandler({ prefix: "?", final }, ([mode]) => {
      if (mode === 2026) isPainting = final === "h";
      return false;
    });
  }
  const { paper, colours } = PALETTES[shade];
  const answers = { 11: () => paper, 4: (index) => colours[index] };
  for (const [code, colourOf] of Object.entries(answers)) {
    terminal.parser.registerOscHandler(Number(code), (data) => {
      const [index] = data.split(";").map(Number);
      const [red, green, blue] = colourOf(index).match(/[\da-f]{2}/g);
      program.write(`\x1b]${code};${code === "4" ? `${index};` : ""}rgb:${red}/${green}/${blue}\x1b\\`);
      return true;
    });
  }
}

const press = (keys) => program.write(keys);

const screen = () =>
  Array.from(
    { length: terminal.rows },
    (_, row) => terminal.buffer.active.getLine(terminal.buffer.active.viewportY + row)?.translateToString(true) ?? "",
  ).join("\n");

/** Whether a frame is incomplete (DEC mode 2026). */
let isPainting = false;

/** Resolves when the screen shows the text. */
function shows(wanted) {
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(() => reject(new Error(`The screen never showed ${wanted}:\n${screen()}`)), PATIENCE);
    const look = () => {
      if (isPainting || !wanted.test(screen())) return;
      clearTimeout(timeout);
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
  const answer = await fetch(`http://127.0.0.1:${PORT}${path}`, {
    method,
    headers,
    body: body && JSON.stringify(body),
  }).catch((error) => error);
  return answer instanceof Error ? answer : answer.json().catch(() => undefined);
}

/** A webhook receiver that fails the first two deliveries. */
function receiver() {
  let failures = 2;
  return createServer((incoming, outgoing) => {
    incoming.resume().on("end", () => outgoing.writeHead(failures-- > 0 ? 503 : 200).end());
  }).listen(HOOKS, "localhost");
}

function take(name, title, shade) {
  if (/Fetching|Loading/.test(screen())) throw new Error(`${name} is still loading:\n${screen()}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}-${shade}.svg`), screenPicture(terminal, title, shade));
  process.stdout.write(`docs/pictures/${name}-${shade}.svg\n`);
}

/** Resizes the terminal, and resolves when the program has painted the whole screen. */
async function resize(cols, rows) {
  terminal.resize(cols, rows);
  terminal.write("\x1b[2J");
  program.resize(cols, rows);
  await shows(new RegExp(`^.*LIVE.*\\n(?:.*\\n){${rows - 2}}.*q [\\w ]+$`));
}

/** Acts like a client that loses a response, and then sends the payroll again with another key. */
async function payTwice() {
  await call("POST", "/_sandbox/faults", {
    name: "lost again",
    match: { operation: "payroll.create" },
    action: { type: "lost_response" },
  });
  for (const key of ["february", "february-2"])
    await call("POST", "/v1/employees/payroll", payroll("02"), { idempotencyKey: key });
}

const READS = [
  "merchants/me",
  "payments?limit=10",
  "customers/cus_nobody",
  "statutory/settings",
  "payments?limit=100",
  "payouts?limit=5",
];
/** The numbers of calls in successive five seconds. Each number is one bar of the trends. */
const BURSTS = [2, 5, 3, 6, 1, 4];

async function earlier() {
  for (const burst of BURSTS) {
    for (const path of READS.slice(0, burst)) await call("GET", `/v1/${path}`);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
  }
}

function payroll(month) {
  const item = { employeeId: "emp_marta", employeeName: "Marta Gonçalves", grossAmount: 260_000, deductions: [] };
  return {
    periodStart: `2026-${month}-01`,
    periodEnd: `2026-${month}-28`,
    payDate: `2026-${month}-28`,
    currency: "EUR",
    items: [item],
  };
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
  for (const _ of ["lost", "again"])
    await call("POST", "/v1/employees/payroll", payroll("01"), { idempotencyKey: "payroll-2026-01" });
  await call("GET", "/v1/payouts?limit=5");
  await call("GET", "/v1/payouts?limit=5");
  await payTwice();
  await call("GET", "/v1/customers/cus_nobody");
  // A call during a delivery may be a call back of the receiver, so it would appear in the trace of that delivery.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await call("POST", "/v1/webhook-events/test", { type: "payout.paid", data: { id: "po_001" } });
}

async function takeAll(shade) {
  await shows(/LIVE/);
  await earlier();
  await business();
  await shows(/next in|delivered/);
  await shows(/1 exhausted/);
  for (const [cols, rows] of SIZES) {
    await resize(cols, rows);
    if (cols >= 160) await shows(/"object": /);
    take(
      `dashboard-${cols}x${rows}`,
      `The dashboard of merchant-sandbox on a terminal of ${cols} columns and ${rows} rows`,
      shade,
    );
  }
  // Opens the call whose response was lost, three rows above the newest call.
  press("kkk\r");
  // The details contain the trace only after they have loaded.
  await shows(/^│ Trace/m);
  take("detail", "One request in detail: headers, bodies, what it made happen", shade);
  press("q");
  press("x");
  await shows(/Arm a fault/);
  take("faults", "Arming a fault from the dashboard", shade);
  for (const [name, picture] of await pagePictures(`http://127.0.0.1:${PORT}/_sandbox/ui`, shade)) {
    writeFileSync(join(folder, `${name}-${shade}.webp`), picture);
    process.stdout.write(`docs/pictures/${name}-${shade}.webp\n`);
  }
}

for (const shade of Object.keys(PALETTES)) {
  const hooks = receiver();
  open(shade);
  const ended = new Promise((resolve) => program.onExit(resolve));
  try {
    await takeAll(shade);
  } finally {
    program.kill();
    await ended;
    hooks.close();
    hooks.closeAllConnections();
  }
}
