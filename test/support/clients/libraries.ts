// HTTP libraries, each with its default retry behaviour.

import axios from "axios";
import axiosRetry from "axios-retry";
import got from "got";
import ky from "ky";
import { Agent, RetryAgent, request } from "undici";

export interface LibraryCall {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  body?: Record<string, unknown>;
}

export interface Library {
  name: string;
  /** The packages whose versions the table shows; empty for Node's own fetch. */
  packages: readonly string[];
  open(): { send(call: LibraryCall): Promise<unknown>; close(): Promise<void> };
}

const nothing = async () => {};

export const libraries: readonly Library[] = [
  {
    name: "fetch",
    packages: [],
    open: () => ({
      send: async ({ url, body, ...call }) => (await fetch(url, { ...call, ...(body ? { body: JSON.stringify(body) } : {}) })).text(),
      close: nothing,
    }),
  },
  {
    name: "got",
    packages: ["got"],
    open: () => ({ send: ({ url, body, ...call }) => got(url, { ...call, ...(body ? { json: body } : {}) }), close: nothing }),
  },
  {
    name: "axios + axios-retry",
    packages: ["axios", "axios-retry"],
    open() {
      const client = axios.create();
      axiosRetry(client);
      return { send: ({ body, ...call }) => client.request({ ...call, ...(body ? { data: body } : {}) }), close: nothing };
    },
  },
  {
    name: "undici RetryAgent",
    packages: ["undici"],
    open() {
      const dispatcher = new RetryAgent(new Agent());
      return {
        send: async ({ url, body, ...call }) =>
          (await request(url, { ...call, dispatcher, ...(body ? { body: JSON.stringify(body) } : {}) })).body.text(),
        close: () => dispatcher.close(),
      };
    },
  },
  {
    name: "ky",
    packages: ["ky"],
    open: () => ({ send: ({ url, body, ...call }) => ky(url, { ...call, ...(body ? { json: body } : {}) }).text(), close: nothing }),
  },
];
