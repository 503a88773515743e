// Where deliveries may go: to host names that an option allows, and to this machine, in every spelling of its
// addresses. This machine is excluded when other machines can reach the sandbox.

import { type LookupAddress, lookup as resolveName } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { memoize } from "../../kernel/bounded-cache.ts";
import { type ErrorCode, fail } from "../../kernel/errors.ts";
import { mask } from "../../kernel/mask.ts";
import type { Behaviour } from "../../schema/assumed.ts";

export type TargetPolicy = ReturnType<typeof createTargetPolicy>;

export interface Refusal {
  code: ErrorCode;
  message: string;
}

export interface TargetPolicyOptions {
  /**
   * Whether this port and path of a URL reach the sandbox itself. Nothing is delivered there: such a request would pass
   * every check of the control API.
   */
  isOwn: (port: number, path: string) => boolean;
  /** Host names beyond this machine that deliveries may go to, such as host.docker.internal. */
  allowedHosts: readonly string[];
  /**
   * Whether deliveries may go to this machine. If other machines can call the sandbox, they could reach services that
   * listen on this machine only.
   */
  allowLoopback: boolean;
}

/** The error `code` when a host name resolves to a forbidden address. */
export const TARGET_NOT_ALLOWED = "ERR_TARGET_NOT_ALLOWED";

const MAX_URL_LENGTH = 2_048;
const MAX_CACHED_URLS = 1_000;

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/**
 * Private networks. A host name that an option allows may resolve to these or to loopback. Link-local, multicast and
 * unspecified addresses are never allowed.
 */
const privateNetworks = new BlockList();
privateNetworks.addSubnet("10.0.0.0", 8, "ipv4");
privateNetworks.addSubnet("172.16.0.0", 12, "ipv4");
privateNetworks.addSubnet("192.168.0.0", 16, "ipv4");
privateNetworks.addSubnet("fc00::", 7, "ipv6");

/**
 * Ports of other protocols, which the Fetch standard blocks too: a service there might interpret the text of a request.
 */
const BAD_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

export function createTargetPolicy({ isOwn, allowedHosts, allowLoopback }: TargetPolicyOptions) {
  const allowed = new Set(allowedHosts.map((host) => bare(host.toLowerCase())));
  const check = memoize(MAX_CACHED_URLS, (text) => checkUrl(text, allowed));
  /** Why a URL is refused; undefined when it is allowed. */
  const refusal = (text: string): Refusal | undefined => {
    const { malformed, port, path, isLoopback, notAllowed } = check(text);
    return (
      malformed ??
      refusedPort(port, path, isOwn(port, path)) ??
      (isLoopback && !allowLoopback ? LOOPBACK_REFUSAL : notAllowed)
    );
  };
  /**
   * Resolves a host name to allowed addresses when a connection is opened. The connection uses exactly these addresses,
   * which prevents DNS rebinding.
   */
  const lookup: LookupFunction = (name, options, callback) => {
    const resolveTo = (addresses: LookupAddress[]) => {
      const [first] = addresses as [LookupAddress];
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    if (isLocalName(name))
      return allowLoopback ? resolveTo(LOCAL) : callback(targetError(`${name} ${IS_LOOPBACK}`), "", 0);
    if (!allowed.has(name)) return callback(targetError(`${name} is not a name of this machine`), "", 0);
    resolveName(name, { all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const refused = addresses.find(({ address, family }) => !isAllowedAddress(address, family));
      if (refused)
        return callback(
          targetError(`${name} resolves to ${refused.address}, which is not on this machine or a private network`),
          "",
          0,
        );
      if (!allowLoopback && addresses.some(({ address, family }) => isLoopbackAddress(address, family)))
        return callback(targetError(`${name} ${IS_LOOPBACK}`), "", 0);
      resolveTo(addresses);
    });
  };
  return {
    refusal,
    lookup,
    /** Throws a 400 for a URL that deliveries may not go to. */
    check(url: string): void {
      const refused = refusal(url);
      if (refused) fail(refused.code, refused.message, { field: "url", received: mask(url, MAX_URL_LENGTH) });
    },
  };
}

interface CheckedUrl {
  /** Why the text is not a valid URL. */
  malformed?: Refusal;
  port: number;
  path: string;
  /** Whether the URL's host is an address or a name of this machine. */
  isLoopback: boolean;
  /** Why the URL's host is not allowed. */
  notAllowed?: Refusal | undefined;
}

function checkUrl(text: string, allowed: ReadonlySet<string>): CheckedUrl {
  const form = malformation(text);
  const malformed = invalid(`${form}; received ${JSON.stringify(mask(text, 200))}`);
  if (form !== undefined) return { malformed, port: 0, path: "", isLoopback: false };
  const { protocol, hostname, port, pathname: path } = new URL(text);
  const isLoopback = isLoopbackHost(bare(hostname));
  const notAllowed = isLoopback ? undefined : refusedHost(hostname, allowed);
  return { port: Number(port || (protocol === "https:" ? 443 : 80)), path, isLoopback, notAllowed };
}

const invalid = (problem: string): Refusal => ({ code: "invalid_webhook_url", message: `url ${problem}.` });

const IS_LOOPBACK =
  "is on the sandbox's own machine, and --host opens this sandbox to the network: " +
  "callers could reach services that listen for this machine alone. " +
  "To deliver there, start the sandbox with --allow-loopback-webhooks; " +
  "for a receiver on another machine, with --allow-webhook-host <name>";

const LOOPBACK_REFUSAL: Refusal = { code: "webhook_url_loopback", message: `url ${IS_LOOPBACK}.` };

/** Names that always mean this machine. They are never resolved, so no resolver can point them elsewhere. */
const isLocalName = (name: string) => /^([a-z0-9_-]+\.)*localhost$/.test(name);

const LOCAL: LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

function malformation(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `may have ${MAX_URL_LENGTH} characters at most`;
  // The URL parser ignores these characters, so the registered URL would differ from the intended one.
  if (/[\s\p{Cc}]/u.test(text)) return "must hold no spaces and no control characters";
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text))
    return "must be a whole http or https address, such as http://localhost:3000/webhooks";
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return "must hold no user name and no password";
  return text.includes("#") ? "must hold no fragment" : undefined;
}

function refusedPort(port: number, path: string, isOwn: boolean): Refusal | undefined {
  if (isOwn) return invalid(`names ${path} on port ${port}, which is the sandbox's own: it does not deliver to itself`);
  return BAD_PORTS.has(port)
    ? invalid(`names port ${port}, which belongs to another protocol than HTTP. Listen on another`)
    : undefined;
}

function refusedHost(hostname: string, allowed: ReadonlySet<string>): Refusal | undefined {
  const host = bare(hostname);
  const family = isIP(host);
  if (allowed.has(host) && (family === 0 || isAllowedAddress(host, family))) return undefined;
  const remedy =
    family === 0
      ? ` If ${host} is this machine seen from a container, allow it with --allow-webhook-host ${host}.`
      : "";
  return {
    code: "webhook_url_not_local",
    message:
      "url must be on this machine: 127.0.0.1, [::1], localhost or a name under .localhost; " +
      `received ${hostname}.${remedy}`,
  };
}

function isLoopbackHost(host: string): boolean {
  const family = isIP(host);
  return family > 0 ? isLoopbackAddress(host, family) : isLocalName(host);
}

const isLoopbackAddress = (address: string, family: number) => loopback.check(address, kindOf(family));

const isAllowedAddress = (address: string, family: number) =>
  isLoopbackAddress(address, family) || privateNetworks.check(address, kindOf(family));

const kindOf = (family: number) => (family === 6 ? "ipv6" : "ipv4");

/** An IPv6 address without the brackets of a URL. */
const bare = (host: string) => host.replace(/^\[|\]$/g, "");

const targetError = (message: string) => Object.assign(new Error(message), { code: TARGET_NOT_ALLOWED });

export const behaviours: Behaviour[] = [
  {
    id: "webhooks.targets",
    fact:
      "Webhook addresses must be on this machine (127.0.0.0/8, ::1, localhost, *.localhost), on a port that is " +
      "neither the sandbox's own nor another protocol's.",
    why: "Any client of the sandbox can register a URL; unrestricted targets would allow attacks on other hosts.",
    setting: "--allow-webhook-host",
  },
  {
    id: "webhooks.loopback",
    fact: "If the sandbox listens beyond loopback, webhook addresses on its own machine are refused.",
    why:
      "Callers on other machines could otherwise reach services that listen for that machine alone, and read their " +
      "responses in the delivery log.",
    setting: "--allow-loopback-webhooks",
  },
];
