// Copies to the clipboard with OSC 52, an escape sequence that also works over ssh.

/** Common terminals ignore longer texts. */
export const MAX_COPY_BYTES = 74_000;

/**
 * In tmux, both forms: tmux takes the plain one itself (`set-clipboard on`), and passes the wrapped one to the outer terminal (`allow-passthrough
 * on`). Its configuration decides which one works.
 */
export function copySequence(text: string, environment: NodeJS.ProcessEnv): string {
  const sequence = `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
  return environment.TMUX === undefined ? sequence : `${sequence}\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`;
}
