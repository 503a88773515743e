// Which API a request target belongs to.

import { API_PREFIX, CONTROL_PREFIX } from "../contracts/paths.ts";

/** Whether a request target belongs to the emulated API. */
export const isApiPath = (target = "") => isBelow(API_PREFIX, target);

/** Whether a request target belongs to the control API. */
export const isControlPath = (target = "") => isBelow(CONTROL_PREFIX, target);

const isBelow = (prefix: string, target: string) =>
  target === prefix || target.startsWith(`${prefix}/`) || target.startsWith(`${prefix}?`);
