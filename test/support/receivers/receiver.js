// A webhook receiver on Express that records each event once. BUG names its only bug, if it has one.

import { createHmac, timingSafeEqual } from "node:crypto";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import express from "express";

const { PORT, SECRET, BUG, FOLDER } = process.env;
const OLDEST = 3 * 24 * 3600; // seconds

function isGenuine(body, signature) {
  const secret = BUG === "secret" ? "whsec_of_another_shop" : SECRET;
  const digest = Buffer.from(createHmac("sha256", secret).update(body).digest("hex"));
  const received = Buffer.from(signature);
  return BUG === "unsigned" || (received.length === digest.length && timingSafeEqual(received, digest));
}

/** Stores the id. Returns whether it is new. */
function remember(id) {
  try {
    writeFileSync(join(FOLDER, id), "", { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

async function statusFor(body, event, signature) {
  if (!isGenuine(body, signature)) return 401;
  if (BUG !== "old" && Date.now() / 1000 - event.created > OLDEST) return 400;
  if (BUG === "slow") await sleep(7000);
  const isNew = remember(event.id);
  const isLost = BUG === "lost" && event.id.charCodeAt(event.id.length - 1) % 2 === 0;
  if ((isNew && !isLost) || BUG === "twice" || BUG === "error") appendFileSync(join(FOLDER, "orders"), `${event.id}\n`);
  return BUG === "error" && isNew ? 500 : 200;
}

const app = express();
const parser = BUG === "reserialised" ? express.json({ limit: "1mb" }) : express.raw({ type: "*/*", limit: "1mb" });
app.post("/", parser, async (request, response) => {
  const isParsed = BUG === "reserialised";
  const body = isParsed ? JSON.stringify(request.body) : request.body;
  const signature = request.get("x-webhook-signature") ?? "";
  if (!isGenuine(body, signature)) return void response.sendStatus(401);
  const event = isParsed ? request.body : JSON.parse(body);
  response.sendStatus(await statusFor(body, event, signature));
});
app.use((_error, _request, response, _next) => void response.sendStatus(400));
app.listen(Number(PORT), "127.0.0.1");
