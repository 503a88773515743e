// The servers that are measured, each in a process of its own: it says its port, and on request the CPU time it has used.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BODY = JSON.stringify({ id: "cus_lodge_ana", object: "customer", merchantId: "mer_lodge", text: "x".repeat(220) });

const servers = {
  /** The limit: node:http that answers 300 bytes and looks at nothing. */
  async bare() {
    const server = createServer((incoming, outgoing) => {
      incoming.resume();
      incoming.on("end", () => {
        outgoing.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(BODY) });
        outgoing.end(BODY);
      });
    });
    return listening(server);
  },
  async express() {
    const { default: express } = await import("express");
    const app = express();
    app.use(express.json());
    app.all("/{*any}", (_incoming, outgoing) => outgoing.json(JSON.parse(BODY)));
    return listening(createServer(app));
  },
  async file() {
    const folder = mkdtempSync(join(tmpdir(), "bench-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    return sandbox({ memory: false, db: join(folder, "sandbox.db") });
  },
  memory: () => sandbox({ memory: true }),
  whole: () => bundled("WHOLE"),
  without: () => bundled("WITHOUT"),
  frozen: () => sandbox({ memory: true, clock: "2026-01-05T12:00:00Z" }),
};

async function sandbox(options, module = "../dist/index.js") {
  const { createSandbox } = await import(module);
  const { port } = await createSandbox({ port: 0, rateLimit: "none", ...options });
  return port;
}

/** A build of its own; what builds it is loaded by these two alone. */
const bundled = async (name) => sandbox({ memory: true }, (await import("./without-console.js"))[name]);

function listening(server) {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
}

process.on("message", () => process.send({ cpu: process.cpuUsage(), memory: process.memoryUsage().rss }));
process.on("disconnect", () => process.exit());
const port = await servers[process.argv[2]]();
// On a terminal of its own it has nobody to send to.
if (process.send) process.send({ port });
else process.stdout.write(`listening at ${port}\n`);
