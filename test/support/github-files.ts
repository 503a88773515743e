// Parses the GITHUB_ENV and GITHUB_OUTPUT files as GitHub's runner does.

/** Reads lines `NAME=value`, and values of several lines between `NAME<<DELIMITER` and a line with the delimiter. */
export function readGithubFile(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  const lines = text.split("\n").slice(0, -1);
  while (lines.length > 0) {
    const line = lines.shift() ?? "";
    const [, name, delimiter] = /^(\w+)<<(.+)$/.exec(line) ?? [];
    if (name === undefined) {
      found[line.slice(0, line.indexOf("="))] = line.slice(line.indexOf("=") + 1);
      continue;
    }
    const end = lines.indexOf(delimiter as string);
    if (end < 0) throw new Error(`Matching delimiter not found: ${delimiter}`);
    found[name] = lines
      .splice(0, end + 1)
      .slice(0, -1)
      .join("\n");
  }
  return found;
}
