// Connections to receivers: opened when there is something to send, kept for the next request, one request at a time on each.

import { connect as connectPlainly, isIP, type LookupFunction, type Socket } from "node:net";
import { once } from "../../kernel/once.ts";
import { type Answer, type AnswerEars, readAnswer } from "./response-parser.ts";

/** What becomes of a request: nothing more is heard once it ended, failed or was stopped. */
export interface Ears extends AnswerEars {
  /** The answer is whole. */
  end(): void;
  fail(error: unknown): void;
}

export interface Request {
  url: URL;
  head: string;
  /** Text goes out with the head, in one piece. */
  body: string | AsyncIterable<Buffer>;
}

export interface Connections {
  /** The returned function ends it wherever it stands. */
  request(request: Request, ears: Ears): () => void;
  close(): void;
}

interface Needs {
  /** Finds the addresses behind a name, and only those that may be connected to. */
  lookup: LookupFunction;
  rejectUnauthorized: boolean;
}

interface Connection {
  /** To be called while it is free. */
  request(request: Request, ears: Ears): () => void;
  destroy(): void;
}

/** Where a connection says how it stands. */
interface Place {
  free(connection: Connection): void;
  gone(connection: Connection): void;
}

/** How long one address of a name is tried before the next one; on this machine an answer takes no time. */
const NEXT_ADDRESS_AFTER = 2_000;
const LARGEST_READ = 65_536;

/** Connections are not counted: a thousand endpoints at one receiver must not wait for each other's. */
export function createConnections(needs: Needs): Connections {
  const all = new Set<Connection>();
  const freeAt = new Map<string, Connection[]>();
  const placeAt = (origin: string): Place => ({
    free(connection) {
      const others = freeAt.get(origin);
      if (others) others.push(connection);
      else freeAt.set(origin, [connection]);
    },
    gone(connection) {
      all.delete(connection);
      const others = freeAt.get(origin)?.filter((other) => other !== connection) ?? [];
      if (others.length > 0) freeAt.set(origin, others);
      else freeAt.delete(origin);
    },
  });
  const open = (url: URL) => {
    const connection = openConnection(url, needs, placeAt(url.origin));
    all.add(connection);
    return connection;
  };
  return {
    request: (request, ears) => (freeAt.get(request.url.origin)?.pop() ?? open(request.url)).request(request, ears),
    close() {
      for (const connection of [...all]) connection.destroy();
    },
  };
}

/** A request that is not answered yet. */
interface Exchange {
  readonly request: Request;
  readonly ears: Ears;
  readonly answer: Answer;
  isSent: boolean;
}

interface State {
  readonly connection: Connection;
  readonly socket: Socket;
  readonly place: Place;
  exchange: Exchange | undefined;
  isOpen: boolean;
  keptFor: number;
}

function openConnection(url: URL, needs: Needs, place: Place): Connection {
  const connection: Connection = {
    request(request, ears) {
      const exchange: Exchange = { request, ears, answer: readAnswer(ears), isSent: false };
      state.exchange = exchange;
      socket.ref();
      if (state.isOpen) send(state, exchange);
      return () => {
        if (state.exchange === exchange) leave(state);
      };
    },
    destroy: () => fail(state, new Error("The sandbox closes its connections.")),
  };
  const opened = () => {
    state.isOpen = true;
    if (state.exchange) send(state, state.exchange);
  };
  const socket = dial(url, needs, (bytes) => hear(state, bytes), opened);
  const state: State = { connection, socket, place, exchange: undefined, isOpen: false, keptFor: 0 };
  socket
    .on("error", (error) => fail(state, error))
    .on("end", () => end(state))
    .on("close", () => end(state))
    .on("timeout", () => state.exchange ?? leave(state));
  return connection;
}

function hear(state: State, bytes: Buffer): void {
  const heard = state.exchange;
  if (!heard) leave(state);
  else
    try {
      const isWhole = heard.answer.take(bytes);
      // Whoever heard a part of it may have had enough.
      if (isWhole && state.exchange === heard) finish(state, heard, heard.isSent ? heard.answer.keptFor() : 0);
    } catch (error) {
      fail(state, error);
    }
}

function end(state: State): void {
  const { exchange } = state;
  if (exchange?.answer.isWholeAtEnd()) finish(state, exchange, 0);
  else fail(state, new Error("The receiver closed the connection."));
}

function finish(state: State, { ears }: Exchange, keptFor: number): void {
  if (keptFor > 0) keep(state, keptFor);
  else leave(state);
  ears.end();
}

function fail(state: State, error: unknown): void {
  const { exchange } = state;
  leave(state);
  exchange?.ears.fail(error);
}

function leave(state: State): void {
  state.exchange = undefined;
  state.place.gone(state.connection);
  state.socket.destroy();
}

function keep(state: State, milliseconds: number): void {
  const { socket, place, connection } = state;
  state.exchange = undefined;
  // Node's own watch over a silent socket: a timer for each pause would cost more. While a request is under way it changes nothing.
  if (milliseconds !== state.keptFor) socket.setTimeout(milliseconds);
  state.keptFor = milliseconds;
  // No process stays for a connection that waits.
  socket.unref();
  place.free(connection);
}

function send(state: State, exchange: Exchange): void {
  const { head, body } = exchange.request;
  const sent = () => {
    exchange.isSent = true;
  };
  if (typeof body !== "string") {
    sendPieces(state.socket, head, body, () => state.exchange === exchange).then(sent, exchange.ears.fail);
    return;
  }
  state.socket.write(head + body);
  sent();
}

async function sendPieces(socket: Socket, head: string, pieces: AsyncIterable<Buffer>, isWanted: () => boolean): Promise<void> {
  let before = Buffer.from(head);
  for await (const piece of pieces) {
    if (!isWanted()) return;
    socket.write(Buffer.concat([before, piece]));
    before = Buffer.alloc(0);
  }
}

/** All plain connections read into one buffer: what one has heard is dealt with before the next one reads. */
const buffer = once(() => Buffer.allocUnsafeSlow(LARGEST_READ));

/** Calls back when something may be sent: over TLS that is when the receiver is known to be who it says. */
function dial(
  { protocol, hostname, port }: URL,
  { lookup, rejectUnauthorized }: Needs,
  hear: (bytes: Buffer) => void,
  open: () => void,
): Socket {
  const isSecure = protocol === "https:";
  const host = hostname.replace(/^\[|\]$/g, "");
  const where = { host, port: Number(port || (isSecure ? 443 : 80)), lookup, noDelay: true };
  const addresses = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER };
  if (isSecure) {
    const servername = isIP(host) > 0 ? "" : host;
    const options = { ...where, ...addresses, servername, rejectUnauthorized, ALPNProtocols: ["http/1.1"] };
    return process.getBuiltinModule("node:tls").connect(options, open).on("data", hear);
  }
  const callback = (size: number, bytes: Uint8Array) => {
    hear(bytes.subarray(0, size) as Buffer);
    return true;
  };
  return connectPlainly({ ...where, ...addresses, onread: { buffer: buffer(), callback } }, open);
}
