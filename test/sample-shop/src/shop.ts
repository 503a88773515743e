// The back end of a guest house: adds up payments, sets prices, and receives webhooks about declined bookings.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { verifySignature } from "merchant-sandbox";
import { type Account, createClient } from "./client.ts";

interface Payment {
  id: string;
  amount: number;
  status: string;
}

interface Page<T> {
  data: T[];
  has_more: boolean;
}

interface Event {
  type: string;
  data: { id: string };
}

export async function openShop(account: Account) {
  const client = createClient(account);
  const heard = new Set<string>();
  const declined: string[] = [];
  let secret = "";

  const app = express();
  app.post("/hooks", express.raw({ type: "application/json", limit: "1mb" }), (request, response) => {
    const body: Buffer = request.body;
    if (!verifySignature({ body, signature: request.get("x-webhook-signature"), secret }))
      return void response.sendStatus(401);
    const id = request.get("x-webhook-id") ?? "";
    const event = JSON.parse(body.toString()) as Event;
    // The same event may arrive twice.
    if (event.type === "booking.declined" && !heard.has(id)) declined.push(event.data.id);
    heard.add(id);
    response.sendStatus(204);
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  const endpoint = await client.post<{ secret: string }>("/webhooks", { url, events: ["booking.declined"] });
  secret = endpoint.secret;

  return {
    declined,
    /** The sum of all successful payments, over all pages. */
    async turnover(): Promise<number> {
      let total = 0;
      for (let after = ""; ; ) {
        const page = await client.get<Page<Payment>>(`/payments?limit=100${after && `&starting_after=${after}`}`);
        for (const { status, amount } of page.data) if (status === "succeeded") total += amount;
        if (!page.has_more) return total;
        after = page.data.at(-1)?.id ?? "";
      }
    },
    raisePrices: (name: string, basisPoints: number) =>
      client.post<{ id: string }>("/hospitality/pricing-rules", {
        name,
        adjustmentType: "percentage",
        adjustmentValue: basisPoints,
      }),
    decline: (booking: string, reason: string) => client.post(`/hospitality/bookings/${booking}/decline`, { reason }),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
