// The catalogue: every operation of the interface, in the order of the service's document.

import type { Operation } from "../store/caller.ts";
import { getCustomer } from "./customers.ts";
import { createPricingRule, declineBooking } from "./hospitality.ts";

export const catalogue: readonly Operation[] = [getCustomer, createPricingRule, declineBooking];
