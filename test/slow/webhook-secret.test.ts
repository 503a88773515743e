// How an app knows the secret of its endpoint: the user chooses the secret, or exec and env export it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSandbox, verifySignature } from "../../src/index.ts";
import { readGithubFile } from "../support/github-files.ts";
import { folder, linesOf, run, runCommand, temporaryFile } from "../support/program.ts";
import { open } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

const SECRET = "whsec_local";
const printsSecret = ["sh", "-c", 'printf %s "$MERCHANT_WEBHOOK_SECRET"'];

describe("a secret that the user gives", () => {
  test("signs deliveries to a configured endpoint, also after a reset; no list of /v1 shows it", async () => {
    const receiver = await receive();
    const bench = await open({ endpoints: [{ url: receiver.url, secret: SECRET }] });
    await bench.control("POST", "/reset", {});
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
    const [{ body, headers }] = (await receiver.arrived(1)) as [Awaited<ReturnType<typeof receiver.arrived>>[0] & {}];
    expect(verifySignature({ body, signature: headers["x-webhook-signature"], secret: SECRET })).toBe(true);
    const listed = await bench.call("GET", "/v1/webhooks");
    expect([listed.body.data.length, listed.text.includes("whsec_")]).toEqual([1, false]);
  });

  test("replaces the secret of the endpoint, and stays if a later call gives none", async () => {
    const bench = await open();
    const register = async (secret?: string) =>
      (await bench.control("PUT", "/endpoints", { url: "http://localhost:3000/", ...(secret && { secret }) })).secret;
    const generated = await register();
    expect([await register(SECRET), await register(), await register("whsec_next")]).toEqual([
      ...[SECRET, SECRET],
      "whsec_next",
    ]);
    expect(generated).toMatch(/^whsec_[0-9a-f]{64}$/);
    const refused = await bench.call("PUT", "/_sandbox/endpoints", {
      body: { url: "http://localhost:1", secret: "x" },
    });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      "secret must be whsec_ followed by letters, digits or _ + / = - of your own; received a string.",
    ]);
  });

  test("comes from the option webhookSecret for endpoints without their own secret", async () => {
    const { endpoints } = await open({
      webhookSecret: "whsec_all",
      endpoints: [{ url: "http://localhost:3000/" }, { url: "http://localhost:3001/", secret: SECRET }],
    });
    expect((await endpoints.list()).data.map(({ secret }) => secret)).toEqual([SECRET, "whsec_all"]);
  });
});

describe("an unknown field of an endpoint is rejected with the closest known field", () => {
  const endpoint = { url: "http://localhost:3000/", secert: SECRET };
  const said = "Did you mean secret?";

  test("in merchant-sandbox.json, with its line", async () => {
    const cwd = folder();
    writeFileSync(join(cwd, "merchant-sandbox.json"), JSON.stringify({ endpoints: [endpoint] }));
    const { code, error } = await run(["exec", "--", "true"], {}, cwd);
    expect([code, error]).toEqual([
      2,
      `merchant-sandbox: merchant-sandbox.json:1 /endpoints/0/secert: Unknown field endpoints.0.secert. ${said}\n`,
    ]);
  });

  test("by createSandbox(), audit() and endpoints.register(), without its value", async () => {
    await expect(createSandbox({ endpoints: [endpoint as never] })).rejects.toThrow(
      `The endpoint {"url":"http://localhost:3000/","secert":"whsec_…redacted…"} cannot be registered: ` +
        `Unknown field secert. ${said}`,
    );
    const bench = await open();
    await expect(bench.audit(endpoint as never)).rejects.toThrow(`Unknown field secert. ${said}`);
    await expect(bench.endpoints.register(endpoint as never)).rejects.toThrow(`Unknown field secert. ${said}`);
  });
});

describe("MERCHANT_WEBHOOK_SECRET", () => {
  test("of exec comes from the endpoint of --forward-to, whose URL may be short", async () => {
    const shown = [
      "sh",
      "-c",
      'printf "%s %s" "$MERCHANT_WEBHOOK_SECRET" "$(curl -s $MERCHANT_SANDBOX_URL/_sandbox/endpoints)"',
    ];
    const words = ["--forward-to", "3000/hooks", "--webhook-secret", SECRET, "--merchant", "market"];
    const { code, out } = await run(["exec", ...words, "--", ...shown]);
    const [secret, ...list] = out.join("").split(" ");
    expect([code, secret, JSON.parse(list.join(" ")).data]).toMatchObject([
      ...[0, SECRET],
      [{ url: "http://localhost:3000/hooks", merchant: "mer_market" }],
    ]);
  });

  test("of exec comes from the first endpoint of its merchant in merchant-sandbox.json", async () => {
    const cwd = folder();
    const of = (port: number, merchant: string) => ({
      url: `http://localhost:${port}/`,
      merchant,
      secret: `whsec_${merchant}`,
    });
    const config = { endpoints: [of(3000, "lodge"), of(3001, "lodge"), of(3002, "market")] };
    writeFileSync(join(cwd, "merchant-sandbox.json"), JSON.stringify(config));
    const secretFor = async (...words: string[]) =>
      (await run(["exec", ...words, "--", ...printsSecret], {}, cwd)).out.join("");
    expect([
      await secretFor(),
      await secretFor("--merchant", "market"),
      await secretFor("--merchant", "stage"),
    ]).toEqual([...["whsec_lodge", "whsec_market"], ""]);
  });

  test("of env comes from the first endpoint, in all formats, or from the new endpoint of --forward-to", async () => {
    const bench = await open({ endpoints: [{ url: "http://localhost:3000/", secret: SECRET }] });
    expect(await linesOf(bench, "env")).toContain(`export MERCHANT_WEBHOOK_SECRET='${SECRET}'`);
    expect(JSON.parse((await linesOf(bench, "env", "--format", "json")).join("\n"))).toMatchObject({
      MERCHANT_WEBHOOK_SECRET: SECRET,
    });
    const file = temporaryFile("", "github-env");
    process.env.GITHUB_ENV = file;
    const { out } = await runCommand(bench.url, "env", "--format", "github").finally(() => {
      delete process.env.GITHUB_ENV;
    });
    expect(out).toContain(`::add-mask::${SECRET}`);
    expect(readGithubFile(readFileSync(file, "utf8")).MERCHANT_WEBHOOK_SECRET).toBe(SECRET);
    const forwarded = await linesOf(bench, "env", "--forward-to", "3001");
    const [added] = (await bench.endpoints.list()).data;
    expect(forwarded).toContain(`export MERCHANT_WEBHOOK_SECRET='${added?.secret}'`);
    expect(added?.url).toBe("http://localhost:3001/");
  });
});
