// Where deliveries may go: this machine, under every spelling of its addresses, and names that were let in one by one.

import { type LookupAddress, lookup as resolveName } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { memoize } from "../../kernel/bounded-cache.ts";
import { type ErrorCode, fail } from "../../kernel/errors.ts";
import type { Behaviour } from "../../schema/assumed.ts";

export interface Targets {
  /** Throws the service's 400 for an address that nothing may be delivered to. */
  check(url: string): void;
  /** Why an address is refused; undefined when it is not. */
  refusal(url: string): Refusal | undefined;
  /** Finds the addresses behind a name at the moment of connecting: only those that are allowed, and no others are connected to. */
  readonly lookup: LookupFunction;
}

export interface Refusal {
  code: ErrorCode;
  message: string;
}

interface Needs {
  /** The sandbox's own ports: a delivery to itself would pass every check of its control plane. */
  ownPorts: () => readonly number[];
  /** Names beyond this machine that may be delivered to, such as host.docker.internal. */
  allowedHosts: readonly string[];
}

/** The `code` of an error that says that a name led where nothing may be delivered to. */
export const TARGET_NOT_ALLOWED = "ERR_TARGET_NOT_ALLOWED";

const LONGEST_URL = 2_048;
const MOST_KNOWN = 1_000;

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** What an allowed name may stand for. Link-local, multicast and unspecified addresses are on neither list, so nothing lets them in. */
const nearby = new BlockList();
nearby.addSubnet("10.0.0.0", 8, "ipv4");
nearby.addSubnet("172.16.0.0", 12, "ipv4");
nearby.addSubnet("192.168.0.0", 16, "ipv4");
nearby.addSubnet("fc00::", 7, "ipv6");

/** Ports of other protocols, which the URL standard keeps web requests away from: what listens there might obey what it is sent. */
const BAD_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117,
  119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
  989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

export function createTargets({ ownPorts, allowedHosts }: Needs): Targets {
  const allowed = new Set(allowedHosts.map((host) => bare(host.toLowerCase())));
  const read = memoize(MOST_KNOWN, (text) => readAddress(text, allowed));
  const refusal = (text: string) => {
    const { wrong, port, far } = read(text);
    return wrong ?? wrongPort(port, ownPorts()) ?? far;
  };
  return {
    refusal,
    check(url) {
      const refused = refusal(url);
      if (refused) fail(refused.code, refused.message, { field: "url", received: url.slice(0, LONGEST_URL) });
    },
    lookup: (name, options, answer) => {
      const reply = (addresses: LookupAddress[]) => {
        const [first] = addresses as [LookupAddress];
        if (options.all) answer(null, addresses);
        else answer(null, first.address, first.family);
      };
      if (isLocalName(name)) return reply(LOCAL);
      if (!allowed.has(name)) return answer(notAllowed(`${name} is not a name of this machine`), "", 0);
      resolveName(name, { all: true }, (error, addresses) => {
        if (error) return answer(error, "", 0);
        const far = addresses.find(({ address, family }) => !isNear(address, family));
        if (far) return answer(notAllowed(`${name} led to ${far.address}, which is not on this machine or a private network`), "", 0);
        reply(addresses);
      });
    },
  };
}

interface Address {
  /** Why it is no address. */
  wrong?: Refusal;
  port: number;
  /** Why it is none of this machine. */
  far?: Refusal | undefined;
}

function readAddress(text: string, allowed: ReadonlySet<string>): Address {
  const form = wrongForm(text);
  const message = `url ${form}; received ${JSON.stringify(text.slice(0, 200))}.`;
  if (form !== undefined) return { wrong: { code: "invalid_webhook_url", message }, port: 0 };
  const { protocol, hostname, port } = new URL(text);
  return { port: Number(port || (protocol === "https:" ? 443 : 80)), far: wrongHost(hostname, allowed) };
}

/** Names that always mean this machine are never looked up: no resolver has a say in where they lead. */
const isLocalName = (name: string) => /^([a-z0-9_-]+\.)*localhost$/.test(name);

const LOCAL: LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

function wrongForm(text: string): string | undefined {
  if (text.length > LONGEST_URL) return `may have ${LONGEST_URL} characters at most`;
  // A parser forgives spaces and line breaks; whoever registers an address that holds some meant another one.
  if (/[\s\p{Cc}]/u.test(text)) return "must hold no spaces and no control characters";
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text))
    return "must be a whole http or https address, such as http://localhost:3000/webhooks";
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return "must hold no user name and no password";
  return text.includes("#") ? "must hold no fragment" : undefined;
}

function wrongPort(port: number, own: readonly number[]): Refusal | undefined {
  if (own.includes(port))
    return { code: "invalid_webhook_url", message: `url names port ${port}, which is the sandbox's own: it does not deliver to itself.` };
  if (BAD_PORTS.has(port))
    return {
      code: "invalid_webhook_url",
      message: `url names port ${port}, which belongs to another protocol than HTTP. Listen on another.`,
    };
  return undefined;
}

function wrongHost(hostname: string, allowed: ReadonlySet<string>): Refusal | undefined {
  const host = bare(hostname);
  const family = isIP(host);
  const local = family > 0 ? loopback.check(host, family === 6 ? "ipv6" : "ipv4") : isLocalName(host);
  if (local || (allowed.has(host) && (family === 0 || isNear(host, family)))) return undefined;
  const remedy = family === 0 ? ` If ${host} is this machine seen from a container, allow it with --allow-webhook-host ${host}.` : "";
  return {
    code: "webhook_url_not_local",
    message: `url must be on this machine: 127.0.0.1, [::1], localhost or a name under .localhost; received ${hostname}.${remedy}`,
  };
}

function isNear(address: string, family: number): boolean {
  const kind = family === 6 ? "ipv6" : "ipv4";
  return loopback.check(address, kind) || nearby.check(address, kind);
}

/** An IPv6 address without the brackets that it wears in a URL. */
const bare = (host: string) => host.replace(/^\[|\]$/g, "");

const notAllowed = (message: string) => Object.assign(new Error(message), { code: TARGET_NOT_ALLOWED });

export const behaviours: Behaviour[] = [
  {
    id: "webhooks.targets",
    fact: "Webhook addresses must be on this machine (127.0.0.0/8, ::1, localhost, *.localhost), on a port that is neither the sandbox's own nor another protocol's.",
    why: "A sandbox takes addresses from whoever calls it; one that connects anywhere could be turned against others.",
    setting: "--allow-webhook-host",
  },
];
