// The commands, in the order in which the help shows them.

import { attach } from "./attach.ts";
import { audit } from "./audit.ts";
import { clock } from "./clock.ts";
import type { Command } from "./command.ts";
import { deliveries } from "./deliveries.ts";
import { doctor } from "./doctor.ts";
import { env } from "./env.ts";
import { exec } from "./exec.ts";
import { fault } from "./fault.ts";
import { healthcheck } from "./healthcheck.ts";
import { learn } from "./learn.ts";
import { receive } from "./receive.ts";
import { replay } from "./replay.ts";
import { reset } from "./reset.ts";
import { scenario } from "./scenario.ts";
import { start } from "./start.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";
import { traffic } from "./traffic.ts";
import { trigger } from "./trigger.ts";
import { wait } from "./wait.ts";

export const commands: Record<string, Command> = {
  start,
  attach,
  learn,
  exec,
  wait,
  status,
  env,
  stop,
  healthcheck,
  doctor,
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
