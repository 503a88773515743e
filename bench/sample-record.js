// The record that every server returns, a customer of about 300 bytes, and the requests for it.

import { request } from "./load.js";

export const RECORD = JSON.stringify({
  id: "cus_zoe",
  object: "customer",
  merchantId: "mer_lodge",
  email: "zoe.mueller@example.com",
  name: "Zoë Müller",
  phone: "+351 912 345 678",
  metadata: {
    room: "12",
    note: "Arrives late, wants the quiet side, and breakfast at seven; pays by card when she leaves.",
  },
  created: 1_767_571_200,
});

export const KEY = { Authorization: "Bearer sk_test_lodge" };

const rule = JSON.stringify({ name: "Weekend", adjustmentType: "percentage", adjustmentValue: 500 });
const payroll = JSON.stringify({
  periodStart: "2026-01-01",
  periodEnd: "2026-01-31",
  payDate: "2026-02-01",
  items: [{ employeeId: "emp_1", grossAmount: 250_000 }],
});

/** Numbers every call of a run, for idempotency keys that must be unique. */
let count = 0;

export const GET = request("GET", "/v1/customers/cus_zoe", KEY);
export const LIST = request("GET", "/v1/payments", KEY);
export const POST = request("POST", "/v1/hospitality/pricing-rules", KEY, rule);
export const REPLAY = request("POST", "/v1/hospitality/pricing-rules", { ...KEY, "Idempotency-Key": "same" }, rule);
export const POST_WITH_KEY = () =>
  request("POST", "/v1/employees/payroll", { ...KEY, "Idempotency-Key": `run-${process.pid}-${count++}` }, payroll);
