// Third-party tools for one npm script, installed at fixed versions in a separate folder, because `npm ci` installs
// only what building and testing need.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Installs the tools of a lane once, and returns their folder. Each set of versions has its own folder. */
export async function installTools(lane, versions) {
  const manifest = JSON.stringify({ private: true, type: "module", dependencies: versions });
  const digest = createHash("sha256").update(manifest).digest("hex").slice(0, 12);
  const installed = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "merchant-sandbox", lane, digest);
  if (existsSync(join(installed, "node_modules"))) return installed;
  mkdirSync(join(installed, ".."), { recursive: true });
  const half = mkdtempSync(`${installed}-`);
  try {
    writeFileSync(join(half, "package.json"), manifest);
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"], {
      cwd: half,
      shell: process.platform === "win32",
    });
    // Another process may have installed the tools in the meantime.
    if (!existsSync(installed)) renameSync(half, installed);
  } finally {
    rmSync(half, { recursive: true, force: true, maxRetries: 5 });
  }
  return installed;
}

/** Runs a program, and resolves to its output. The error of a failed program contains the end of its output. */
export function run(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    execFile(file, args, { maxBuffer: 2 ** 28, ...options }, (error, stdout, stderr) =>
      error
        ? reject(new Error(`${file} ${args.join(" ")} failed:\n${stdout.slice(-3_000)}\n${stderr.slice(-3_000)}`))
        : resolve(stdout),
    );
  });
}
