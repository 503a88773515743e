// The cache of compiled code and of today's default data, in a state folder that only its user may write.

import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { folder, launchFile, PROGRAM } from "../support/program.ts";

const EXEC = [
  "exec",
  "--",
  process.execPath,
  "-e",
  "fetch(process.env.MERCHANT_SANDBOX_URL + '/v1/customers/cus_zoe', " +
    "{ headers: { authorization: 'Bearer sk_test_lodge' } }).then((answer) => console.log(answer.status))",
];

async function run(state: string, program = PROGRAM, variables = {}): Promise<void> {
  const { code, out } = await launchFile(program, EXEC, { XDG_STATE_HOME: state, ...variables }).ended;
  expect([code, out]).toEqual([0, ["200"]]);
}

/** The files of the cache, by the beginning of their names. Leaves out the folders of Node's own cache. */
function cached(state: string) {
  const cache = join(state, "merchant-sandbox/cache");
  const files = readdirSync(cache, { withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(files.map(({ name }) => [name.split("-")[0], join(cache, name)]));
}

test("a run caches its compiled code and today's data; a later run replaces only damaged files", async () => {
  const state = folder();
  await run(state);
  const kept = cached(state);
  expect([...kept.keys()].sort()).toEqual(["sandbox", "world"]);
  for (const file of kept.values()) expect(statSync(file).mode & 0o777).toBe(0o600);
  const inodes = () => [...kept.values()].map((file) => statSync(file).ino);
  const before = inodes();
  await run(state);
  expect(inodes()).toEqual(before);
  truncateSync(kept.get("world") as string, 8_192);
  writeFileSync(kept.get("sandbox") as string, readFileSync(kept.get("sandbox") as string).subarray(0, 1_000));
  await run(state);
  for (const [place, inode] of inodes().entries()) expect(inode).not.toBe(before[place]);
});

test("a cache folder that another user can write is not used", async () => {
  const state = folder();
  const cache = join(state, "merchant-sandbox/cache");
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  chmodSync(join(state, "merchant-sandbox"), 0o700);
  chmodSync(cache, 0o770);
  await run(state);
  expect(readdirSync(cache)).toEqual([]);
});

test("a second installation of the same build caches its own code, because code contains its path", async () => {
  const [state, coverage, installation] = [folder(), folder(), folder()];
  const checkout = join(dirname(PROGRAM), "..");
  for (const name of ["dist", "fixtures", "package.json"])
    cpSync(join(checkout, name), join(installation, name), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(installation, "node_modules"));
  await run(state);
  const copy = join(installation, "dist", basename(PROGRAM));
  await run(state, copy, { NODE_V8_COVERAGE: coverage });
  const files = readdirSync(coverage).flatMap((name) =>
    (JSON.parse(readFileSync(join(coverage, name), "utf8")).result as { url: string }[]).map(({ url }) => url),
  );
  expect(new Set(files.filter((url) => url.endsWith("/dist/program.cjs")))).toEqual(
    new Set([pathToFileURL(join(installation, "dist/program.cjs")).href]),
  );
});
