// The commands, in the order in which the help shows them.

import type { Command } from "./command.ts";
import { start } from "./start.ts";

export const commands: Record<string, Command> = { start };
