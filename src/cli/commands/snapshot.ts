// `snapshot` and `reset`: save and restore the data of a running sandbox, or return it to its start.

import type { SandboxResetReply, Snapshot } from "../../../generated/control-api.ts";
import { describeClock } from "../../kernel/clock.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { plural } from "../../kernel/text.ts";
import { commandGroup } from "../command.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";
import { linesOf, sandboxCommand } from "../sandbox-command.ts";

/** Creates a subcommand about one snapshot. */
const ofOne = <Reply extends object>(
  word: string,
  summary: string,
  call: (snapshots: RunningSandbox["control"]["snapshots"], snapshot: { name: string }) => Promise<Reply>,
  says: (reply: Reply) => string,
) =>
  sandboxCommand({
    usage: `snapshot ${word} <name>`,
    example: `snapshot ${word} before`,
    summary,
    terms: () => ({ name: "<name>" }),
    call: ({ control }, { positionals: [name = ""] }) => call(control.snapshots, { name }),
    lines: (reply) => [says(reply)],
  });

export const snapshot = commandGroup({
  name: "snapshot",
  summary: "save the data of a running sandbox under a name, and go back to it any number of times",
  default: "ls",
  subcommands: {
    save: ofOne(
      "save",
      "save all data; an earlier snapshot of the same name is replaced",
      (snapshots, one) => snapshots.save(one),
      ({ name, file, replaced }) =>
        `Saved the snapshot ${name} in ${file}.${replaced ? " The earlier one of this name is replaced." : ""}`,
    ),
    restore: ofOne(
      "restore",
      "go back to the data of a snapshot, without fault rules and verdicts; everything due by now happens at once",
      (snapshots, one) => snapshots.restore(one),
      ({ restored, heldDeliveries = 0, heldEndpoints = [] }) => {
        const done =
          `Restored the snapshot ${restored}. Fault rules, scenarios and verdicts are removed; ` +
          "the clock and the request log continue.";
        if (heldEndpoints.length === 0) return done;
        return (
          `${done} No sandbox of this user saved the snapshot, so nothing is sent to ${heldEndpoints.join(", ")} ` +
          `until you run ${PROGRAM} replay waiting; ${plural(heldDeliveries, "delivery")} held.`
        );
      },
    ),
    ls: sandboxCommand({
      usage: "snapshot ls",
      summary: "list the snapshots (the default)",
      call: ({ control }) => control.snapshots.list(),
      lines: linesOf(
        ({ name, file, bytes }: Snapshot) => `${name} ${Math.ceil(bytes / 1_024)} KiB ${file}`,
        `No snapshots. Try ${PROGRAM} snapshot save before.`,
      ),
    }),
    rm: ofOne(
      "rm",
      "delete a snapshot",
      (snapshots, one) => snapshots.remove(one),
      ({ removed }) => `Deleted the snapshot ${removed}.`,
    ),
  },
});

export const reset = sandboxCommand({
  summary: "return to the start: data, clock, faults, scenarios and endpoints; or only one merchant, without the clock",
  usage: "reset [merchant]",
  async call(sandbox, { positionals: [wanted] }) {
    const merchant = await sandbox.merchantId(wanted);
    return sandbox.control.reset(merchant === undefined ? {} : { merchant });
  },
  lines: resetLines,
});

function resetLines({ reset, clock, faults, scenarios, endpoints }: SandboxResetReply): string[] {
  const again = [
    ...faults.map((id) => `fault rule ${id}`),
    ...scenarios.map((name) => `scenario ${name}`),
    ...endpoints.map((id) => `endpoint ${id}`),
  ];
  const kept = again.length === 0 ? "" : ` Set up again, as the options say: ${again.join(", ")}.`;
  if (clock === null)
    return [`Reset the data, faults and verdicts of ${reset}; the clock and other merchants are unchanged.${kept}`];
  return [`Reset everything: data, faults, verdicts, and the clock to ${describeClock(clock)}.${kept}`];
}
