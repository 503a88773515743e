// Copies through the terminal itself, which reaches the user's own clipboard over ssh too.

/** More than this is not taken by common terminals. */
export const MOST_COPIED = 74_000;

/** The sequence that puts text on the clipboard; tmux wants it wrapped, and hands it on. */
export function copySequence(text: string, environment: NodeJS.ProcessEnv): string {
  const sequence = `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
  return environment.TMUX === undefined ? sequence : `\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`;
}
