// Where deliveries may go: to this machine in every spelling and to allowed hosts, not to hosts that only look like it.

import { lookup as resolveName } from "node:dns";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTargetPolicy } from "../../src/webhooks/http/target-policy.ts";
import { folder } from "../support/program.ts";
import { attempted, open, share, shareForBlock } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

const targets = createTargetPolicy({
  isOwn: (port) => port === 4_747,
  allowedHosts: ["host.docker.internal", "172.17.0.1", "[fd00::1]", "8.8.8.8"],
  allowLoopback: true,
});

const ALLOWED = [
  "http://127.0.0.1:3000/hooks",
  "http://127.255.255.254:3000/",
  "http://0x7f.1:3000/",
  "http://2130706433:3000/",
  "http://１２７.0.0.1:3000/",
  "http://[::1]:3000/",
  "http://[::ffff:127.0.0.1]:3000/",
  "http://localhost:3000/hooks?a=b&c=%20d",
  "http://shop.localhost:3000/",
  "http://host.docker.internal:3000/",
  "http://172.17.0.1:3000/",
  "http://[fd00::1]:3000/",
];

const NOT_LOCAL = [
  "http://example.com/",
  "http://127.0.0.1.nip.io/",
  "http://notlocalhost:3000/",
  "http://localhost.:3000/",
  "http://.localhost:3000/",
  "http://0.0.0.0:3000/",
  "http://128.0.0.1:3000/",
  "http://172.17.0.2:3000/",
  "http://169.254.169.254/latest/meta-data/",
  "http://[::ffff:169.254.169.254]/",
  "http://[fd00::2]:3000/",
  "http://8.8.8.8:3000/",
  "http://x.host.docker.internal:3000/",
];

const MALFORMED = [
  "localhost:3000",
  "http:localhost:3000/",
  "http:///localhost/",
  "ftp://localhost/",
  "http://[::1/",
  " http://localhost:3000/",
  "http://localhost:3000/\n",
  "http://local\thost:3000/",
  "http://user:password@localhost:3000/",
  "http://localhost@example.com/",
  "http://localhost:3000/#top",
  `http://localhost:3000/${"a".repeat(2_048)}`,
];

const PORTS = [
  "http://localhost:4747/v1/webhooks",
  "http://127.0.0.2:4747/",
  "http://[::1]:4747/_sandbox/reset",
  "http://2130706433:4747/",
];
const BAD_PORTS = [
  "http://localhost:0/",
  "http://localhost:22/",
  "http://localhost:25/",
  "https://[::1]:6000/",
  "http://localhost:10080/",
];

describe("a webhook URL", () => {
  test.each(ALLOWED)("%s is allowed", (url) => {
    expect(targets.refusal(url)).toBeUndefined();
    expect(() => targets.check(url)).not.toThrow();
  });

  test.each(NOT_LOCAL)("%s is rejected, because it is not local", (url) => {
    attempted("Server-side request forgery");
    expect(targets.refusal(url)).toMatchObject({ code: "webhook_url_not_local" });
    expect(() => targets.check(url)).toThrow("must be on this machine");
  });

  test.each(MALFORMED)("%j is rejected as an invalid URL", (url) => {
    attempted("Server-side request forgery");
    expect(targets.refusal(url)).toMatchObject({ code: "invalid_webhook_url" });
  });

  test.each(PORTS)("%s is rejected, because it is the sandbox itself", (url) => {
    attempted("The sandbox calls itself");
    expect(targets.refusal(url)).toMatchObject({
      code: "invalid_webhook_url",
      message: expect.stringContaining("the sandbox's own"),
    });
  });

  test.each(BAD_PORTS)("%s is rejected, because its port belongs to another protocol", (url) => {
    attempted("Server-side request forgery");
    expect(targets.refusal(url)).toMatchObject({
      code: "invalid_webhook_url",
      message: expect.stringContaining("another protocol"),
    });
  });
});

describe("the lookup for a connection", () => {
  /** The addresses that `lookup` returns, or the code of its error. */
  const lookup = (name: string, allowedHosts: string[] = [], allowLoopback = true) =>
    new Promise<unknown>((resolve) => {
      const { lookup } = createTargetPolicy({ isOwn: () => false, allowedHosts, allowLoopback });
      lookup(name, { all: true }, (error, addresses) => resolve(error ? error.code : addresses));
    });

  test.each(["localhost", "shop.localhost"])("resolves %s to this machine without DNS", async (name) => {
    expect(await lookup(name)).toEqual([
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ]);
  });

  test("returns one address if only one is requested", async () => {
    const one = await new Promise((resolve) => targets.lookup("localhost", {}, (...answer) => resolve(answer)));
    expect(one).toEqual([null, "127.0.0.1", 4]);
  });

  test("rejects a host that is not allowed", async () => {
    expect(await lookup("example.com")).toBe("ERR_TARGET_NOT_ALLOWED");
  });

  // An IP address resolves to itself, so these tests need no resolver.
  test.each([
    ["127.0.0.1", 4],
    ["10.1.2.3", 4],
    ["172.31.255.255", 4],
    ["192.168.65.254", 4],
    ["fd00::1", 6],
  ])("returns %s if this address is allowed", async (address, family) => {
    expect(await lookup(address, [address])).toEqual([{ address, family }]);
  });

  test.each(["8.8.8.8", "169.254.169.254", "fe80::1", "0.0.0.0", "172.32.0.1"])(
    "rejects %s even if this address is allowed",
    async (address) => {
      attempted("Server-side request forgery");
      expect(await lookup(address, [address])).toBe("ERR_TARGET_NOT_ALLOWED");
    },
  );

  test.each(["127.0.0.1", "127.0.1.1", "::1"])(
    "rejects %s if other machines can reach the sandbox",
    async (address) => {
      attempted("Webhooks to services of the sandbox's machine");
      expect(await lookup(address, [address], false)).toBe("ERR_TARGET_NOT_ALLOWED");
    },
  );

  test("rejects this machine's names, but no allowed address, if other machines can reach the sandbox", async () => {
    expect(await lookup("shop.localhost", [], false)).toBe("ERR_TARGET_NOT_ALLOWED");
    expect(await lookup("10.1.2.3", ["10.1.2.3"], false)).toEqual([{ address: "10.1.2.3", family: 4 }]);
  });

  test("fails with a DNS error if an allowed host does not exist", async () => {
    const code = await new Promise((resolve) => resolveName("receiver.invalid", (error) => resolve(error?.code)));
    expect(await lookup("receiver.invalid", ["receiver.invalid"])).toBe(code);
  });
});

describe("a sandbox that other machines can reach", () => {
  const network = { host: "0.0.0.0", allowedHost: ["127.0.0.1"] };
  const endpoint = (url: string) => ({ body: { url, events: ["*"] } });

  test("rejects every spelling of its own machine when an endpoint is registered", async () => {
    const bench = await open(network);
    for (const url of ALLOWED.slice(0, -3)) {
      attempted("Webhooks to services of the sandbox's machine");
      const { status, body } = await bench.call("POST", "/v1/webhooks", endpoint(url));
      expect([url, status, body.code]).toEqual([url, 400, "webhook_url_loopback"]);
      expect(body.message).toContain("--allow-loopback-webhooks");
    }
    const elsewhere = await bench.call("POST", "/v1/webhooks", endpoint("http://169.254.169.254/"));
    expect(elsewhere.body.code).toBe("webhook_url_not_local");
  });

  test("delivers to its own machine with --allow-loopback-webhooks", async () => {
    const bench = await open({ ...network, allowLoopbackWebhooks: true });
    const receiver = await receive();
    expect((await bench.call("POST", "/v1/webhooks", endpoint(receiver.url))).status).toBe(201);
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
    await receiver.arrived(1);
  });

  test("does not deliver to an endpoint on its own machine that its database already contains", async () => {
    const db = join(folder(), "sandbox.db");
    const receiver = await receive();
    const before = await share({ db, memory: false });
    expect((await before.call("POST", "/v1/webhooks", endpoint(receiver.url))).status).toBe(201);
    await before.close();
    attempted("Webhooks to services of the sandbox's machine");
    const bench = await open({ ...network, db, memory: false });
    const logged = new Promise((resolve) =>
      bench.onLiveEvent((event) => event.kind === "attempt" && resolve(event.attempt)),
    );
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
    expect(await logged).toMatchObject({ status: "failed", errorCode: "target_not_allowed" });
    expect(receiver.arrivals).toEqual([]);
  });
});

describe("registering", () => {
  const sandbox = shareForBlock({ allowWebhookHost: ["host.docker.internal"] });

  const register = async (url: string) => {
    const { status, body } = await sandbox().call("POST", "/v1/webhooks", { body: { url, events: ["a.b"] } });
    return [status, body.code ?? body.url];
  };

  test("stores a URL as it was sent", async () => {
    for (const url of ["http://0x7f.1:3000/", "HTTP://Shop.LOCALHOST:3000/x?y", "http://host.docker.internal/"])
      expect(await register(url)).toEqual([201, url]);
  });

  test("rejects other machines, invalid URLs and the sandbox itself", async () => {
    expect(await register("http://example.com/")).toEqual([400, "webhook_url_not_local"]);
    expect(await register("localhost:3000")).toEqual([400, "invalid_webhook_url"]);
    for (const host of ["127.0.0.1", "0x7f.1", "a.localhost", "host.docker.internal"]) {
      attempted("The sandbox calls itself");
      expect(await register(`http://${host}:${sandbox().port}/_sandbox/reset`), host).toEqual([
        400,
        "invalid_webhook_url",
      ]);
    }
    const { body } = await sandbox().call("POST", "/v1/webhooks", {
      body: { url: "http://intranet:3000/", events: ["a.b"] },
    });
    expect(body.message).toContain("--allow-webhook-host intranet");
    expect(body.details).toMatchObject({ field: "url", received: "http://intranet:3000/" });
  });
});
