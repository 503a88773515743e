// How a user starts this program, so that hints print commands as they must be typed.

const NAME = "merchant-sandbox";

/** The folder of a script, or of the start script that npm writes beside `node_modules` on Windows. */
function folderOf(script: string): string {
  const [before = "", inPackage] = script.split(/[\\/]node_modules[\\/]merchant-sandbox[\\/]/);
  return inPackage === undefined ? script.replace(/[\\/][^\\/]*$/, "") : before;
}

/**
 * `merchant-sandbox` for a global installation, whose folder is in PATH. While npx or npm runs, PATH also has the
 * folder of a project's commands, but the PATH of the user's shell does not. With Yarn's Plug'n'Play there is no such
 * folder and npx would download a package, so the command starts with `yarn`.
 */
export function programNameOf(script: string, path: string, isPlugAndPlay: boolean): string {
  if (isPlugAndPlay) return `yarn ${NAME}`;
  const folder = folderOf(script);
  return path.split(script.includes("\\") ? ";" : ":").includes(folder) && !/[\\/]\.bin$/.test(folder)
    ? NAME
    : `npx ${NAME}`;
}

/** The command that started this process; `npx` in a browser, which has no process. */
export const PROGRAM =
  typeof process === "undefined"
    ? `npx ${NAME}`
    : programNameOf(process.argv[1] ?? "", process.env.PATH ?? "", "pnp" in process.versions);
