// Copies to the clipboard with OSC 52, an escape sequence that also works over ssh.

/** Common terminals ignore longer texts. */
export const MAX_COPY_BYTES = 74_000;

/** tmux passes a wrapped sequence through to the outer terminal. */
export function copySequence(text: string, environment: NodeJS.ProcessEnv): string {
  const sequence = `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
  return environment.TMUX === undefined ? sequence : `\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`;
}
