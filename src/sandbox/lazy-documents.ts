// The documents of the reference as the control plane has them: made when somebody first asks, so that a start does without them.

import type { ControlContext } from "../control/control-context.ts";

export function documents(url: () => string): ControlContext["documents"] {
  const load = () => import("./documents.ts");
  return {
    openapi: async () => (await load()).serviceOpenapi(url()),
    controlOpenapi: async () => (await load()).controlOpenapi(url()),
    assumptions: async () => (await load()).assumptions(),
  };
}
