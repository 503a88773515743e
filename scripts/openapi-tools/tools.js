// The third-party tools at fixed versions, in a folder of their own: together they are larger than all of our own packages.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

export const versions = {
  "@hey-api/openapi-ts": "0.95.0",
  "@kubb/cli": "4.39.3",
  "@kubb/core": "4.39.3",
  "@kubb/plugin-client": "4.39.3",
  "@kubb/plugin-oas": "4.39.3",
  "@kubb/plugin-ts": "4.39.3",
  "@stoplight/prism-cli": "5.14.2",
  "@types/node": "20.19.43",
  newman: "6.2.2",
  "openapi-fetch": "0.17.0",
  "openapi-to-postmanv2": "6.3.3",
  "openapi-typescript": "7.13.0",
  orval: "7.13.2",
  "swagger-typescript-api": "13.13.0",
  typescript: "5.9.3",
};

const manifest = JSON.stringify({ private: true, type: "module", dependencies: versions });

/** The tools stay installed under this name: other versions have another one. */
const installed = join(
  process.env.XDG_CACHE_HOME || join(homedir(), ".cache"),
  "merchant-sandbox/openapi-tools",
  createHash("sha256").update(manifest).digest("hex").slice(0, 12),
);

/** Errors of npm without a registry, as opposed to a version that does not exist. */
const OFFLINE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;

/** Installs the tools once; false if the registry cannot be reached. */
export async function install() {
  if (existsSync(join(installed, "node_modules"))) return true;
  mkdirSync(join(installed, ".."), { recursive: true });
  const half = mkdtempSync(`${installed}-`);
  try {
    writeFileSync(join(half, "package.json"), manifest);
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"], {
      cwd: half,
      shell: process.platform === "win32",
    });
    // Another run may have been faster.
    if (!existsSync(installed)) renameSync(half, installed);
    return true;
  } catch (error) {
    if (OFFLINE.test(error.message)) return false;
    throw error;
  } finally {
    rmSync(half, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A folder for what the tools read and write. */
export function openWorkFolder() {
  const folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-openapi-tools-"));
  writeFileSync(join(folder, "package.json"), manifest);
  symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"), "junction");
  return folder;
}

export function run(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    execFile(file, args, { maxBuffer: 2 ** 28, ...options }, (error, stdout, stderr) =>
      error ? reject(new Error(`${file} ${args.join(" ")} failed:\n${stdout.slice(-3_000)}\n${stderr.slice(-3_000)}`)) : resolve(stdout),
    );
  });
}

export const tool = (folder, name, ...args) => run(join(folder, "node_modules/.bin", name), args, { cwd: folder });
