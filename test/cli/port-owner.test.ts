// Which process listens on a port, according to the operating system.

import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { listenerOf } from "../../src/cli/process/port-owner.ts";
import { freePort, listen } from "../support/sandbox.ts";

describe.runIf(process.platform === "linux")("the listener of a port", () => {
  test.each(["127.0.0.1", "::1"])("on %s is found, whichever process is expected", async (host) => {
    const port = await listen(createServer(), host);
    for (const expected of [undefined, process.pid, process.ppid])
      expect(await listenerOf(port, expected)).toMatchObject({ pid: process.pid });
  });

  test("is not found if the process only listens on another port", async () => {
    await listen(createServer());
    expect(await listenerOf(await freePort(), process.pid)).toBeUndefined();
  });
});
