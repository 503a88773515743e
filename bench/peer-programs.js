// The other emulators (peers): package, required Node, how each gets the same record, and the requests sent to it.

import { request } from "./load.js";
import { GET, POST, RECORD } from "./sample-record.js";

const record = JSON.parse(RECORD);
const READ = request("GET", "/customers/cus_zoe");
const { id: _, ...fields } = record;
const MAKE = request("POST", "/customers", {}, JSON.stringify(fields));

/** A new API key every few thousand calls, because emulate allows each key 5,000 calls an hour. */
let calls = 0;
const stripeKey = () => ({ Authorization: `Bearer sk_test_${Math.floor(calls++ / 4_000)}` });
const stripe = JSON.stringify({
  email: record.email,
  name: record.name,
  phone: record.phone,
  metadata: record.metadata,
});

/**
 * `node` is the oldest Node version that the peer supports. `words` are the peer's arguments, and `files` its files.
 * `greet` creates the record if the peer cannot read the record from a file.
 */
export const programs = [
  {
    name: "emulate 0.12.2, Stripe service",
    package: "emulate@0.12.2",
    node: 24,
    bin: "emulate/dist/index.js",
    words: (port) => ["start", "--service", "stripe", "--port", String(port)],
    async greet(port) {
      const headers = { "Content-Type": "application/json", ...stripeKey() };
      const answer = await fetch(`http://127.0.0.1:${port}/v1/customers`, { method: "POST", headers, body: stripe });
      const { id } = await answer.json();
      return {
        get: () => request("GET", `/v1/customers/${id}`, stripeKey()),
        post: () => request("POST", "/v1/customers", stripeKey(), stripe),
      };
    },
  },
  {
    name: "Prism 5.16.0",
    package: "@stoplight/prism-cli@5.16.0",
    node: 24,
    bin: "@stoplight/prism-cli/dist/index.js",
    words: (port) => ["mock", "--port", String(port), "--verboseLevel", "error", "openapi.json"],
    files: { "openapi.json": () => openapi() },
  },
  {
    name: "Mockoon 9.9.0",
    package: "@mockoon/cli@9.9.0",
    bin: "@mockoon/cli/bin/run.js",
    words: (port) => [
      "start",
      "--data",
      "mockoon.json",
      "--port",
      String(port),
      "--disable-log-to-file",
      "--disable-admin-api",
    ],
    files: { "mockoon.json": () => mockoon() },
  },
  {
    name: "json-server 0.17.4",
    package: "json-server@0.17.4",
    bin: "json-server/lib/cli/bin.js",
    /** This peer writes to disk. The other peers keep new records in memory, or store nothing. */
    isDurable: true,
    words: (port) => ["--quiet", "--host", "127.0.0.1", "--port", String(port), "db.json"],
    files: { "db.json": () => ({ customers: [record] }) },
  },
  ...[
    { name: "mountebank 2.9.1", headers: {} },
    // By default, mountebank closes the connection after each response.
    { name: "mountebank 2.9.1, with keep-alive", headers: { Connection: "keep-alive" } },
  ].map(({ name, headers }) => ({
    name,
    package: "mountebank@2.9.1",
    bin: "mountebank/bin/mb",
    // mountebank also opens a port for its own API.
    words: (_, own) => [
      "start",
      "--nologfile",
      "--loglevel",
      "error",
      "--port",
      String(own),
      "--configfile",
      "imposters.json",
    ],
    files: { "imposters.json": (port) => imposters(port, headers) },
  })),
];

/** Requests for peers that read the record from a file. */
export const usual = { get: READ, post: MAKE };

/** Requests for the sandbox. */
export const ours = { get: GET, post: POST };

function openapi() {
  const schema = { type: "object", properties: { name: { type: "string" }, email: { type: "string" } } };
  const content = { "application/json": { schema, example: record } };
  const parameters = [{ name: "id", in: "path", required: true, schema: { type: "string" } }];
  const paths = {
    "/customers/{id}": { get: { parameters, responses: { 200: { description: "The customer", content } } } },
    "/customers": { post: { requestBody: { content }, responses: { 201: { description: "The customer", content } } } },
  };
  return { openapi: "3.0.3", info: { title: "Customers", version: "1" }, paths };
}

function mockoon() {
  const uuid = (number) => `00000000-0000-4000-8000-00000000000${number}`;
  const response = {
    uuid: uuid(3),
    bodyType: "DATABUCKET",
    databucketID: "abcd",
    statusCode: 200,
    default: true,
    crudKey: "id",
    body: "",
  };
  return {
    uuid: uuid(1),
    lastMigration: 33,
    name: "bench",
    port: 3000,
    hostname: "127.0.0.1",
    routes: [{ uuid: uuid(2), type: "crud", method: "", endpoint: "customers", responses: [response] }],
    rootChildren: [{ type: "route", uuid: uuid(2) }],
    data: [{ uuid: uuid(4), id: "abcd", name: "customers", value: JSON.stringify([record]) }],
  };
}

function imposters(port, headers) {
  const stub = (method, path, statusCode) => ({
    predicates: [{ equals: { method, path } }],
    responses: [{ is: { statusCode, headers: { "Content-Type": "application/json", ...headers }, body: RECORD } }],
  });
  const stubs = [stub("GET", "/customers/cus_zoe", 200), stub("POST", "/customers", 201)];
  return { imposters: [{ port, protocol: "http", stubs }] };
}
