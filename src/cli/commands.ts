// The commands, in the order in which the help shows them.

import { clock } from "./clock.ts";
import type { Command } from "./command.ts";
import { reset } from "./reset.ts";
import { start } from "./start.ts";

export const commands: Record<string, Command> = { start, reset, clock };
