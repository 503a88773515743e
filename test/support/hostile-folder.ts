// A repository that a stranger committed: databases, snapshots, and the files beside them that SQLite trusts. Tests
// clone it with git, so every file has the mode 0644, and no sandbox of this user wrote it.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { folder } from "./program.ts";

const MAGIC = Buffer.from([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
const SECTOR = 512;
const PAGE = 4_096;
/** The number of the page with SQLite's lock bytes. It marks a journal record as the name of the super-journal. */
const LOCK_PAGE = 2 ** 30 / PAGE + 1;

/** A hot journal of SQLite. When SQLite replays it, SQLite deletes the super-journal, the file with this name. */
export function hotJournal(superJournal: string): Buffer {
  const name = Buffer.from(superJournal);
  const header = Buffer.alloc(SECTOR);
  MAGIC.copy(header);
  header.writeUInt32BE(SECTOR, 20);
  header.writeUInt32BE(PAGE, 24);
  const page = Buffer.alloc(4);
  page.writeUInt32BE(LOCK_PAGE);
  const end = Buffer.alloc(8);
  end.writeUInt32BE(name.length, 0);
  end.writeUInt32BE(name.reduce((sum, byte) => (sum + ((byte << 24) >> 24)) | 0, 0) >>> 0, 4);
  return Buffer.concat([header, page, name, end, MAGIC]);
}

/** The bytes of a SQLite database that no sandbox created. */
export function otherDatabase(): Buffer {
  const sql = new Sqlite(":memory:");
  sql.exec("create table t (a)");
  const bytes = sql.serialize();
  sql.close();
  return bytes;
}

export type Files = Readonly<Record<string, string | Buffer>>;

/** Clones a repository with these files. Each call of the returned function copies the clone, which is faster. */
export function repository(files: Files): () => string {
  const origin = folder();
  const git = (cwd: string, ...words: string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x.example", ...words], { cwd, stdio: "pipe" });
  // Without a template, git writes no sample hooks, which would be most of the files to copy.
  git(origin, "init", "--quiet", "--template=");
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(origin, name)), { recursive: true });
    writeFileSync(join(origin, name), content);
  }
  git(origin, "add", "--force", ".");
  git(origin, "commit", "--quiet", "--message", "files");
  const first = folder();
  git(first, "clone", "--quiet", "--template=", origin, ".");
  return () => {
    const clone = folder();
    cpSync(first, clone, { recursive: true });
    return clone;
  };
}

/**
 * A database that delivers an event to this address as soon as it is opened, and a snapshot of it. The stranger chose
 * the record in the event.
 */
export async function postingDatabase(url: string): Promise<{ database: string; snapshot: string }> {
  const database = join(folder(), "posting.db");
  const sandbox = await createSandbox({ memory: false, db: database, clock: "2026-01-05T12:00:00Z" });
  await sandbox.endpoints.register({ url: "http://localhost:9999/", merchant: "mer_lodge" });
  const { file: snapshot } = await sandbox.snapshots.save({ name: "posting" });
  await sandbox.close();
  for (const file of [database, snapshot]) {
    const sql = new Sqlite(file);
    sql.exec(`update documents set body = json_set(body, '$.url', '${url}') where kind = 'webhook_endpoint';
      insert into events (id, merchant, type, created, origin, body)
        values ('evt_1', 'mer_lodge', 'payment.succeeded', 1767614400000, 'event', '{"id":"evt_1","Image":"evil"}');
      insert into deliveries (merchant, endpoint, event, trigger, state, allowed, due, created)
        select 'mer_lodge', endpoint, 1, 'event', 'pending', 6, 0, 0 from subscriptions limit 1;`);
    sql.close();
  }
  return { database, snapshot };
}

/** Command lines for every command and subcommand of the program, with only the required arguments. */
export async function everyCommandLine(database: string): Promise<string[][]> {
  const found = Object.values(await everyCommand()).flatMap((command) =>
    command.subcommands ? Object.values(command.subcommands) : [command],
  );
  return found.flatMap((command) => {
    const [least = ""] = command.usage.split(/ \[/);
    const words = [...least.replace(/<(\w+)[^>]*>/g, "$1").split(" "), ...(MORE[least] ?? [])];
    const options = command.sandboxOptions.includes("db") ? ["--port", "0", "--db", database] : [];
    if (["exec", "dev"].includes(least))
      return [[...words, ...options, "--", process.execPath, "-e", "setTimeout(() => {}, 300)"]];
    return least === "start"
      ? [
          [...words, ...options],
          [...words, ...options, "--detach"],
        ]
      : [[...words, ...options]];
  });
}

/** Additional arguments that make a command end soon or use a free port. */
const MORE: Readonly<Record<string, string[]>> = { wait: ["--within", "1s"], receive: ["--port", "0"] };
