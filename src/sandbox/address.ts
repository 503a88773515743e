// Where a sandbox is reached: on its own port, or below a path of the app that it is mounted in.

import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { API_PREFIX, CONTROL_PREFIX } from "../contracts/paths.ts";
import type { MountedServer, MountPoint } from "../http/mount.ts";

export interface Address {
  /** 0 until the sandbox listens, or until an app has passed it a request. */
  port(): number;
  /** The sandbox's URL without a path, or with the path of its mount; empty until the port is known. */
  url(): string;
  /** The port that a client of this request sends in Host; undefined for a request without a socket. */
  portOf(incoming: IncomingMessage): number | undefined;
  /** Whether a delivery to this port and path of this machine would reach the sandbox itself. */
  isOwn(port: number, path: string): boolean;
}

export interface OwnAddress extends Address {
  listensOn(port: number): void;
}

export interface MountedAddress extends Address {
  /** Call this for each request, with the address at which the request arrived. */
  arrived(at: MountPoint): void;
  attach(server: MountedServer, prefix: string): void;
}

/** The address of a sandbox that listens on a port of its own. */
export function createOwnAddress(host: string): OwnAddress {
  let port = 0;
  return {
    port: () => port,
    url: () => `http://${host}:${port}`,
    portOf: () => port,
    isOwn: (other) => other === port,
    listensOn(chosen) {
      port = chosen;
    },
  };
}

/** At most this many mount paths are remembered. If the mount path has a parameter, an app has any number of them. */
const MAX_MOUNT_POINTS = 100;

/** The address of a sandbox in an app: the attached server's, or else the address of the newest request. */
export function createMountedAddress(): MountedAddress {
  const mountPoints = new Map<string, MountPoint>();
  let newest: MountPoint | undefined;
  let attached: { server: MountedServer; prefix: string } | undefined;
  const current = (): MountPoint | undefined => {
    const listening = attached?.server.listening ? (attached.server.address() as AddressInfo | string) : undefined;
    if (attached === undefined || typeof listening !== "object") return newest;
    return { port: listening.port, prefix: attached.prefix, isSecure: newest?.isSecure ?? false };
  };
  return {
    port: () => current()?.port ?? 0,
    url() {
      const { port = 0, prefix = "", isSecure = false } = current() ?? {};
      return port === 0 ? "" : `http${isSecure ? "s" : ""}://localhost:${port}${prefix}`;
    },
    portOf: ({ socket }) => socket.localPort,
    /**
     * The app's own routes may receive deliveries, even on the port of the sandbox. A path of the control API is
     * refused on any port, because an app may listen on several.
     */
    isOwn(port, path) {
      if (`${path}/`.includes(`${CONTROL_PREFIX}/`)) return true;
      // Express compares mount paths without regard to case.
      const lower = `${path}/`.toLowerCase();
      return [...mountPoints.values()].some(
        (one) => one.port === port && lower.startsWith(`${one.prefix}${API_PREFIX}/`.toLowerCase()),
      );
    },
    arrived(at) {
      newest = at;
      const name = `${at.port}${at.prefix}`;
      if (!mountPoints.has(name) && mountPoints.size < MAX_MOUNT_POINTS) mountPoints.set(name, at);
    },
    attach(server, prefix) {
      attached = { server, prefix };
    },
  };
}
