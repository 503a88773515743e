// The package's `prepare` script builds dist/, so that `npx merchant-sandbox` finds the program. npm runs this script
// after `npm ci` in the checkout, before it packs the package, and when a project installs the checkout or its git URL.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const addon = join(root, "node_modules/better-sqlite3");

/** Version 13 of better-sqlite3 calls functions of this version of Node-API. Node 20 does not have this version. */
const NODE_API_OF_VERSION_13 = 10;

function hasUnusableAddon() {
  const { version } = JSON.parse(readFileSync(join(addon, "package.json"), "utf8"));
  return Number.parseInt(version, 10) >= 13 && Number(process.versions.napi) < NODE_API_OF_VERSION_13;
}

/**
 * The lock file pins version 13 for all Node versions, because version 12 crashes a Node 24.19 or newer for which it
 * was compiled. For Node 20, another lock file pins version 12.
 */
function installAddonOfNode20() {
  const folder = join(root, "scripts/node-20");
  process.stderr.write("merchant-sandbox: npm downloads or compiles better-sqlite3 12, which Node 20 needs.\n");
  // npm passes the flags of the outer command down to this script, such as --global if a user installs a git URL.
  const words = ["install", "--no-global", "--no-dry-run", "--no-audit", "--no-fund"];
  execFileSync("npm", words, { cwd: folder, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  rmSync(addon, { recursive: true, force: true });
  symlinkSync(join(folder, "node_modules/better-sqlite3"), addon, "junction");
}

if (existsSync(join(root, "node_modules/esbuild"))) {
  if (hasUnusableAddon()) installAddonOfNode20();
  await import("./build.js");
} else {
  // npm installs no development dependencies with --omit=dev, or for a folder on which a project depends.
  const isBuilt = existsSync(join(root, "dist/bin.cjs"));
  process.stderr.write(
    `merchant-sandbox: dist/ was not ${isBuilt ? "built again" : "built"}, because the tools that build it are not ` +
      `installed. Run npm ci in ${root}.\n`,
  );
  process.exitCode = isBuilt ? 0 : 1;
}
