// The supported Nodes: the locked packages support every Node that CI tests, and CI tests the oldest Node of each
// supported version.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

interface LockedPackage {
  version: string;
  engines?: { node?: string };
}

/** The types of semver are in another package, so `require` loads it untyped. */
const semver = createRequire(import.meta.url)("semver") as {
  satisfies(version: string, range: string): boolean;
  minVersion(range: string): { version: string } | null;
};

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const { engines } = JSON.parse(read("package.json")) as { engines: { node: string } };
const lockedIn = (path: string) => (JSON.parse(read(path)) as { packages: Record<string, LockedPackage> }).packages;
const locked = lockedIn("package-lock.json");
/** On Node 20, scripts/prepare.js replaces better-sqlite3 with an older version that Node 20 can run. */
const lockedForNode20 = { ...locked, ...lockedIn("scripts/node-20/package-lock.json") };
const ci = parse(read(".github/workflows/ci.yml")) as { jobs: { check: { strategy: { matrix: { node: string[] } } } } };
const tried = ci.jobs.check.strategy.matrix.node;

test("CI tests the oldest Node of each range in engines", () => {
  const oldest = engines.node.split(" || ").map((range) => semver.minVersion(range)?.version);
  expect(tried.map((version) => semver.minVersion(version)?.version)).toEqual(expect.arrayContaining(oldest));
});

describe.each(tried)("Node %s", (version) => {
  test("satisfies the engines of every locked package", () => {
    const oldest = semver.minVersion(version)?.version ?? "";
    const packages = semver.satisfies(oldest, "20") ? lockedForNode20 : locked;
    const refusing = Object.entries(packages).filter(
      ([, { engines }]) => engines?.node && !semver.satisfies(oldest, engines.node),
    );
    expect(refusing.map(([path, { version, engines }]) => `${path} ${version} needs ${engines?.node}`)).toEqual([]);
  });
});
