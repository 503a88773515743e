// The commands, in the order in which the help shows them.

import { audit } from "./audit.ts";
import { clock } from "./clock.ts";
import type { Command } from "./command.ts";
import { deliveries } from "./deliveries.ts";
import { exec } from "./exec.ts";
import { fault } from "./fault.ts";
import { receive } from "./receive.ts";
import { replay } from "./replay.ts";
import { reset } from "./reset.ts";
import { scenario } from "./scenario.ts";
import { start } from "./start.ts";
import { traffic } from "./traffic.ts";
import { trigger } from "./trigger.ts";

export const commands: Record<string, Command> = {
  start,
  exec,
  receive,
  trigger,
  deliveries,
  replay,
  reset,
  clock,
  fault,
  scenario,
  traffic,
  audit,
};
