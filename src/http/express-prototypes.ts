// Keeps Express from replacing the prototypes of requests and responses.
//
// Trick:  Express sets its own prototype, with methods that this project does not use, on every request and response it handles. Its `request` and
//         `response` are replaced by Node's own prototypes, so that setting them changes nothing.
// Reason: V8 discards the code it has compiled for a class of objects whenever one of them gets another prototype.
// Figure: one control API call a second cost the API a tenth of its rate.

import { IncomingMessage, ServerResponse } from "node:http";
import type { Express } from "express";

export function keepNodePrototypes(app: Express): void {
  Object.assign(app, { request: IncomingMessage.prototype, response: ServerResponse.prototype });
}
