// `snapshot`: saves, restores, lists and deletes snapshots of a running sandbox.

import { SandboxError } from "../../kernel/errors.ts";
import { command, commandGroup } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";

const flags = { json: { description: "print one JSON object per line" }, ...connectionFlags };

interface Done {
  /** The reply, for --json. */
  reply: unknown;
  says: string;
}

/** A subcommand that is about one snapshot. */
const act = (word: string, summary: string, run: (snapshots: RunningSandbox["control"]["snapshots"], name: string) => Promise<Done>) =>
  command({
    usage: `snapshot ${word} <name>`,
    summary,
    positionals: 1,
    flags,
    async run({ flags, positionals: [name] }) {
      if (name === undefined)
        throw new SandboxError(`The name of the snapshot is missing: merchant-sandbox snapshot ${word} before.`, "usage");
      const { control } = await connectToSandbox(flags, { name: "<name>" });
      const { reply, says } = await run(control.snapshots, name);
      print(flags.json === undefined ? says : JSON.stringify(reply));
      return undefined;
    },
  });

const lineOf = ({ name, file, bytes }: { name: string; file: string; bytes: number }) => `${name} ${Math.ceil(bytes / 1_024)} KiB ${file}`;

export const snapshot = commandGroup({
  name: "snapshot",
  summary: "save the data of a running sandbox under a name, and go back to it any number of times",
  default: "ls",
  subcommands: {
    save: act("save", "save all data; an earlier snapshot of the same name is replaced", async (snapshots, name) => {
      const reply = await snapshots.save({ name });
      return { reply, says: `Saved ${reply.name} in ${reply.file}.` };
    }),
    load: act("load", "go back to the data of a snapshot", async (snapshots, name) => {
      const reply = await snapshots.restore({ name });
      return { reply, says: `Restored ${reply.restored}.` };
    }),
    ls: command({
      usage: "snapshot ls",
      summary: "list the snapshots (the default)",
      flags,
      async run({ flags }) {
        const { data } = await (await connectToSandbox(flags)).control.snapshots.list();
        for (const one of data) print(flags.json === undefined ? lineOf(one) : JSON.stringify(one));
        if (data.length === 0 && flags.json === undefined) print("No snapshots. Try merchant-sandbox snapshot save before.");
        return undefined;
      },
    }),
    rm: act("rm", "delete a snapshot", async (snapshots, name) => {
      const reply = await snapshots.remove({ name });
      return { reply, says: `Deleted ${reply.removed}.` };
    }),
  },
});
