// The assumptions of samples: the values that a record made through the control API gets for the fields that its creator left out.

import type { Behaviour } from "../../schema/assumed.ts";

const NO_OPERATION = "The service's documentation has no operation that makes such a record, and shows none.";

export const behaviours: Behaviour[] = [
  {
    id: "samples.values",
    fact: "A record made through the control API gets values for the fields left out: like the merchant's newest records of the kind, in its currency, with the next number of a series. Seed, merchant and count decide them.",
    why: NO_OPERATION,
  },
  {
    id: "samples.references",
    fact: "It refers to records that exist: one of the merchant's 50 newest customers, variants in stock, an active product. A missing product is made; a merchant without goods sells a gift box.",
    why: NO_OPERATION,
  },
  {
    id: "samples.dates",
    fact: "Its dates fit its status: a stay begins in 3 to 30 days, today once checked in, and ends today once checked out; a renewal is due in 3 to 20 days; an overdue remittance was due yesterday.",
    why: NO_OPERATION,
  },
  {
    id: "samples.office",
    fact: "A payroll pays the staff of the latest run, or else two people, for the latest period of `payFrequency` that has begun and has no run. Deductions have the rates of the schemes in the settings, or else believable ones of the country.",
    why: "The service's documentation has no employees and no tax rates.",
  },
  {
    id: "samples.states",
    fact: "It passes through every state on the way to its own, and sends the event of each.",
    why: "The service sends an event for each change of state, and no record begins in a later one.",
  },
];
