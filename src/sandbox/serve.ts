// How clients reach a sandbox: on a port of its own, or through an app that it is mounted in.

import { createMount, type Middleware, type MountedServer } from "../http/mount.ts";
import { type ListeningServer, listen, type ServerHandlers } from "../http/server.ts";
import { usageError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import type { MountedAddress, OwnAddress } from "./address.ts";
import type { Options } from "./options.ts";

/** How clients reach a sandbox. */
export interface Served extends Pick<ListeningServer, "close"> {
  middleware: Middleware;
  attach(server: MountedServer, path?: string): void;
}

const NOT_MOUNTED =
  "This sandbox listens on a port of its own. Create it with { listen: false } to mount it in an app.";

/** Listens on a port of the sandbox's own. */
export async function serve(
  { port, host }: Options,
  address: OwnAddress,
  handlers: () => ServerHandlers,
): Promise<Served> {
  const server = await listen(port, host, handlers);
  address.listensOn(server.port);
  return { ...server, middleware: () => usageError(NOT_MOUNTED), attach: () => usageError(NOT_MOUNTED) };
}

/** Serves the sandbox as middleware of an app. Calls `onMounted` at the first request, which shows its address. */
export function mount(address: MountedAddress, handlers: () => ServerHandlers, onMounted: () => void): Served {
  const announce = once(onMounted);
  const mounted = createMount(handlers, (place) => {
    address.arrived(place);
    announce();
  });
  return {
    ...mounted,
    attach(server, path = "") {
      const prefix = path.replace(/\/+$/, "");
      address.attach(server, prefix);
      mounted.attach(server, prefix);
    },
  };
}
