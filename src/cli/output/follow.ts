// Prints the events of a sandbox from its live stream.

import type { LiveStream, StreamConnection, StreamPosition } from "../../../ui/connection/live-stream.ts";
import type { LiveMessage } from "../../contracts/live-messages.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Following, Output, SandboxSummary, WatchedSandbox } from "./output.ts";

const FROM_NOW: StreamPosition = { run: undefined, seq: undefined };

export async function followLiveStream(
  target: WatchedSandbox["target"],
  output: Output,
  from = FROM_NOW,
): Promise<Following> {
  const { openLive } = await import("../../../ui/connection/live-stream.ts");
  const { openSocket } = await import("../../../ui/connection/node-socket.ts");
  const printer = createPrinter(output);
  let live: LiveStream | undefined;
  const failed = new Promise<never>((_, reject) => {
    const connection = (next: StreamConnection) => {
      if (next.phase === "detached") reject(new SandboxError(`Cannot watch ${target.url}: ${next.reason}.`));
      else printer.connection(next, target.url);
    };
    live = openLive(
      { target, openSocket, mode: "everything", from },
      { message: printer.message, unknown: printer.unknown, connection },
    );
  });
  const stop = () => {
    live?.close();
    printer.end();
  };
  return { failed, stop };
}

/** Prints events, and each change of the connection once, even if many retries fail. */
function createPrinter(output: Output) {
  let run: string | undefined;
  let lostBecause: string | undefined;
  let left = 0;
  const reportLeft = () =>
    output.notice({ event: "unknown", messages: left }, `Messages of another version were not shown: ${left}.`);
  return {
    message(message: LiveMessage) {
      if (message.type === "batch") for (const { seq: _, nth: __, ...event } of message.items) output.event(event);
      if (message.type === "gap")
        output.notice({ event: "missed", from: message.from, to: message.to }, missedText(message));
      if (message.type !== "snapshot") return;
      if (run !== undefined && run !== message.run) output.notice({ event: "restarted" }, "The sandbox was restarted.");
      if (run !== message.run) output.attached(message.sandbox as SandboxSummary);
      run = message.run;
    },
    /** Reports the first unknown messages immediately, and their total at the end. */
    unknown(count: number) {
      left += count;
      if (left === count) reportLeft();
    },
    end() {
      if (left > 1) reportLeft();
    },
    connection(connection: StreamConnection, url: string) {
      if (connection.phase === "live" && lostBecause !== undefined)
        output.notice({ event: "reachable", url }, `${url} responds again.`);
      if (connection.phase === "reconnecting" && lostBecause !== connection.reason)
        output.notice(
          { event: "unreachable", url, message: connection.reason },
          `Waiting for ${url}: ${connection.reason}.`,
        );
      lostBecause = connection.phase === "reconnecting" ? connection.reason : undefined;
    },
  };
}

const missedText = ({ from, to }: { from: number; to: number }) =>
  `${to - from + 1} events were missed; the sandbox no longer holds them.`;
