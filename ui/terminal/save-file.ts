// Saves a file in the working directory.

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";

/** Writes a file of this name, numbered if there is one already, and returns its path. */
export const saveFile = (name: string, extension: string, text: string) => saveNumbered(name, extension, text, 1);

async function saveNumbered(name: string, extension: string, text: string, number: number): Promise<string> {
  const file = resolve(`${name}${number === 1 ? "" : `-${number}`}.${extension}`);
  try {
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
    return file;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return saveNumbered(name, extension, text, number + 1);
  }
}
