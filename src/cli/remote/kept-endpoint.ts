// The endpoint that `listen` and `receive` register for as long as they run.

import type { RegisteredEndpoint } from "../../../generated/control-api.ts";
import type { LiveEvent } from "../../contracts/live-messages.ts";
import type { NewEndpoint } from "../../contracts/webhook.ts";
import { withResolvers } from "../../kernel/with-resolvers.ts";
import { followLiveStream } from "../output/follow.ts";
import type { Output } from "../output/output.ts";
import type { RunningSandbox } from "./running-sandbox.ts";

interface EndpointWatch {
  output: Output;
  /** Called once the live stream is open, and after each later registration. */
  registered(endpoint: RegisteredEndpoint): void;
  /** Called for each attempt to deliver to the endpoint. */
  attempt(event: LiveEvent): void;
}

/** Registers the endpoint again after each reset or restart of the sandbox. `failed` rejects if that is impossible. */
export async function keepRegistered(
  { control, url, controlToken }: RunningSandbox,
  wanted: NewEndpoint,
  first: RegisteredEndpoint,
  { output, registered, attempt }: EndpointWatch,
) {
  let endpoint = first;
  const { promise: failed, reject: fail } = withResolvers<never>();
  const registerAgain = () =>
    control.endpoints.register(wanted).then((again) => {
      endpoint = again;
      registered(again);
    }, fail);
  const following = await followLiveStream(
    { url, token: controlToken },
    {
      ...output,
      attached: () => void registerAgain(),
      event(event) {
        if (event.kind === "attempt" && event.attempt.endpointId === endpoint.id) attempt(event);
        const isCleared = event.kind === "reset" || event.kind === "removal";
        if (isCleared && (event.merchant ?? endpoint.merchant) === endpoint.merchant) void registerAgain();
      },
    },
  );
  return {
    failed: Promise.race([following.failed, failed]),
    stop: following.stop,
    /** The id of the last registration. */
    id: () => endpoint.id,
  };
}
