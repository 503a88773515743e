// Sends single requests with each HTTP library or program, without retries. Some keep connections alive. Others open a
// connection for each request.

import { execFile } from "node:child_process";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import axios from "axios";
import got from "got";
import ky from "ky";
import { Agent, request, fetch as undiciFetch } from "undici";

export interface Sent {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

/** Sends one request. Resolves or rejects when the response has arrived or is lost. */
export type Send = (sent: Sent) => Promise<unknown>;

export interface Client {
  send: Send;
  close(): unknown;
}

function overFetch(isRead: boolean): Client {
  const dispatcher = new Agent();
  const unread: unknown[] = [];
  return {
    async send({ url, ...init }) {
      const response = await undiciFetch(url, { ...init, body: init.body ?? null, dispatcher });
      // Keeps an unread response, because garbage collection of its body would free the connection.
      return isRead ? response.text() : unread.push(response);
    },
    close: () => dispatcher.destroy(),
  };
}

function overHttp(keepAlive: boolean): Client {
  const agent = new HttpAgent({ keepAlive });
  return {
    send: ({ url, body, ...options }) =>
      new Promise((resolve, reject) => {
        const outgoing = httpRequest(
          url,
          { ...options, agent },
          (incoming) => void buffer(incoming).then(resolve, reject),
        );
        outgoing.on("error", reject).end(body);
      }),
    close: () => agent.destroy(),
  };
}

const run = (file: string, words: string[]) =>
  new Promise((resolve, reject) => void execFile(file, words, (error) => (error ? reject(error) : resolve(undefined))));

const PYTHON = `
import sys, json, urllib.request
sent = json.loads(sys.argv[1])
body = sent.get("body")
data = body and body.encode()
request = urllib.request.Request(sent["url"], method=sent["method"], headers=sent["headers"], data=data)
urllib.request.urlopen(request).read()`;

export const transports: Record<string, () => Client> = {
  "fetch, body read": () => overFetch(true),
  "fetch, body not read": () => overFetch(false),
  "http.Agent with keep-alive": () => overHttp(true),
  "http.Agent without keep-alive": () => overHttp(false),
  undici() {
    const dispatcher = new Agent();
    return {
      send: async ({ url, body, ...options }) =>
        (await request(url, { ...options, dispatcher, body: body ?? null })).body.text(),
      close: () => dispatcher.destroy(),
    };
  },
  axios() {
    const httpAgent = new HttpAgent({ keepAlive: true });
    return {
      send: ({ body, ...sent }) => axios.request({ ...sent, httpAgent, data: body }),
      close: () => httpAgent.destroy(),
    };
  },
  got() {
    const http = new HttpAgent({ keepAlive: true });
    return {
      send: ({ url, body, ...sent }) =>
        got(url, { ...sent, agent: { http }, retry: { limit: 0 }, ...(body ? { body } : {}) }),
      close: () => http.destroy(),
    };
  },
  ky() {
    const dispatcher = new Agent();
    // Uses its own connections, because ky and the other transports stand for separate programs.
    const ownFetch = async (input: unknown) => {
      const { url, method, headers, body } = input as Request;
      const sent = { method, headers: [...headers], body: body ? await new Response(body).text() : null, dispatcher };
      return (await undiciFetch(url, sent)) as unknown as Response;
    };
    return {
      send: ({ url, body, ...sent }) =>
        ky(url, { ...sent, retry: 0, timeout: false, fetch: ownFetch, ...(body ? { body } : {}) }).text(),
      close: () => dispatcher.destroy(),
    };
  },
  curl: () => ({
    send: ({ method, url, headers, body }) =>
      run("curl", [
        ...["-s", "-X", method, url],
        ...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
        ...(body ? ["-d", body] : []),
      ]),
    close: () => {},
  }),
  python: () => ({ send: (sent) => run("python3", ["-c", PYTHON, JSON.stringify(sent)]), close: () => {} }),
};

/** Transports that start a program for each request. The matrix runs them less often. */
export const PROGRAMS = ["curl", "python"];
