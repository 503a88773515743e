// Writes what a command makes to a file that the user names.

import { writeFile } from "node:fs/promises";
import { usageError } from "../../kernel/errors.ts";

export async function writeOutput(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    usageError(`Cannot write ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
}
