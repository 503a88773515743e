// The dashboard's platform in a terminal with Node: copies to the clipboard, writes files, and calls the control API.

import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isControl } from "../../src/client/curl.ts";
import { callService, httpTransport, reasonOf } from "../../src/client/http-transport.ts";
import { SandboxState } from "../../src/contracts/live-messages.ts";
import { byteLength } from "../../src/kernel/text.ts";
import { matchesSchema } from "../../src/schema/validator.ts";
import { type Perform, refusalOf } from "../connection/calls.ts";
import type { Platform } from "../panes/run-effects.ts";
import type { AppView } from "../state/app.ts";
import type { NewFile } from "../state/state.ts";
import type { Terminal } from "./terminal.ts";

/** Common terminals ignore longer texts. */
const MAX_COPY_BYTES = 74_000;

/**
 * In tmux, sends both forms of the sequence. tmux handles the plain form itself (`set-clipboard on`), and passes the
 * wrapped form to the outer terminal (`allow-passthrough on`). Which form works depends on tmux's configuration.
 */
export function copySequence(text: string, environment: NodeJS.ProcessEnv): string {
  const sequence = `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
  return environment.TMUX === undefined
    ? sequence
    : `${sequence}\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`;
}

export const perform: Perform = async (target, call) => {
  const unreachable = (error: Error & { code?: string }) => {
    const isRefused = error.code === "ECONNREFUSED" || error.code === "ECONNRESET";
    return new Error(isRefused ? `No sandbox answers at ${target.url}` : reasonOf(error), { cause: error });
  };
  const reply = isControl(call)
    ? { status: 200, body: await httpTransport(target, { refused: refusalOf, unreachable })(call) }
    : await callService(target.url, call).catch((error: Error) => {
        throw unreachable(error);
      });
  // Every frame reads the sandbox's state, so a state of another version would end the rendering.
  if (isControl(call) && call.method === "GET" && call.path === "" && !matchesSchema(SandboxState, reply.body))
    throw new Error(`The sandbox at ${target.url} is of another version`);
  return reply as Awaited<ReturnType<typeof perform<never>>>;
};

export async function save({ path, text, overwrites }: NewFile): Promise<string> {
  const file = resolve(path);
  await writeFile(file, text, { flag: overwrites ? "w" : "wx" }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(
      code === "EEXIST"
        ? `${file} exists. Choose another path or overwrite it`
        : `Cannot write ${file} (${code}). Choose another path`,
    );
  });
  return `Wrote ${file}`;
}

/** The programs that open a URL. Default: `xdg-open`. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = { darwin: ["open"], win32: ["explorer.exe"] };

/** Whether this machine shows a desktop to the user. Over SSH, the browser is on another machine. */
export const hasDesktop = ({ SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv): boolean =>
  SSH_CONNECTION === undefined &&
  (process.platform in OPENERS || DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined);

export const terminalPlatform = ({ send, repaint, suspend }: Terminal, app?: AppView): Platform => ({
  perform,
  copy(text) {
    if (byteLength(text) > MAX_COPY_BYTES) return "Too long for the clipboard. Press ! to show it";
    send(copySequence(text, process.env));
    return undefined;
  },
  open(url) {
    send(copySequence(url, process.env));
    if (!hasDesktop(process.env)) return `Copied the address of this view: ${url}`;
    const [command = "", ...words] = OPENERS[process.platform] ?? ["xdg-open"];
    const child = spawn(command, [...words, url], { detached: true, stdio: "ignore" });
    // If the program is not installed, the user has the address in the notice and in the clipboard.
    child.on("error", () => {}).unref();
    return `Opened ${url} in your browser, and copied it`;
  },
  save,
  bell: () => send("\x07"),
  repaint,
  suspend,
  restart: app?.restart,
});
