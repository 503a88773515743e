// HTTP libraries and programs, each with its default retry behaviour.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import axios from "axios";
import axiosRetry from "axios-retry";
import got from "got";
import ky from "ky";
import { Agent, RetryAgent, request } from "undici";
import { programs } from "./line-client.ts";

export interface LibraryCall {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  body?: Record<string, unknown>;
}

export interface Library {
  name: string;
  /** The version that the table shows; undefined if the library is not installed. */
  version(): string | undefined;
  open(): { send(call: LibraryCall): Promise<unknown>; close(): Promise<void> };
}

const nothing = async () => {};

const versionOf = (name: string) =>
  (
    JSON.parse(readFileSync(join(import.meta.dirname, `../../../node_modules/${name}/package.json`), "utf8")) as {
      version: string;
    }
  ).version
    .split(".")
    .slice(0, 2)
    .join(".");

export const libraries: readonly Library[] = [
  {
    name: "fetch (Node)",
    version: () => process.versions.node.split(".")[0],
    open: () => ({
      send: async ({ url, body, ...call }) =>
        (await fetch(url, { ...call, ...(body ? { body: JSON.stringify(body) } : {}) })).text(),
      close: nothing,
    }),
  },
  {
    name: "got",
    version: () => versionOf("got"),
    open: () => ({
      send: ({ url, body, ...call }) => got(url, { ...call, ...(body ? { json: body } : {}) }),
      close: nothing,
    }),
  },
  {
    name: "axios + axios-retry",
    version: () => ["axios", "axios-retry"].map(versionOf).join(" + "),
    open() {
      const client = axios.create();
      axiosRetry(client);
      return {
        send: ({ body, ...call }) => client.request({ ...call, ...(body ? { data: body } : {}) }),
        close: nothing,
      };
    },
  },
  {
    name: "undici RetryAgent",
    version: () => versionOf("undici"),
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
    version: () => versionOf("ky"),
    open: () => ({
      send: ({ url, body, ...call }) => ky(url, { ...call, ...(body ? { json: body } : {}) }).text(),
      close: nothing,
    }),
  },
  ...programs,
];
