// A call as code: curl, fetch, Python and Go. Responses are printed as text, because a fault can make a body that is not JSON.

import { quoted } from "../connection/calls.ts";

/** A call as it goes over the wire. */
export interface PlainCall {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
}

const text = (value: string) => JSON.stringify(value);

const curl = ({ method, url, headers, body }: PlainCall) =>
  [
    `curl -sS${method === "GET" ? "" : ` -X ${method}`} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(" \\\n  ");

const javascript = ({ method, url, headers, body }: PlainCall) =>
  [
    `const response = await fetch(${text(url)}, {`,
    `  method: ${text(method)},`,
    "  headers: {",
    ...Object.entries(headers).map(([name, value]) => `    ${text(name)}: ${text(value)},`),
    "  },",
    ...(body === undefined ? [] : [`  body: ${text(body)},`]),
    "});",
    "console.log(response.status, await response.text());",
  ].join("\n");

const python = ({ method, url, headers, body }: PlainCall) =>
  [
    "import requests",
    "",
    "response = requests.request(",
    `    ${text(method)},`,
    `    ${text(url)},`,
    "    headers={",
    ...Object.entries(headers).map(([name, value]) => `        ${text(name)}: ${text(value)},`),
    "    },",
    ...(body === undefined ? [] : [`    data=${text(body)}.encode(),`]),
    "    timeout=10,",
    ")",
    "print(response.status_code, response.text)",
  ].join("\n");

const go = ({ method, url, headers, body }: PlainCall) =>
  [
    "package main",
    "",
    'import (\n\t"fmt"\n\t"io"\n\t"log"\n\t"net/http"',
    ...(body === undefined ? [] : ['\t"strings"']),
    ")",
    "",
    "func main() {",
    `\trequest, err := http.NewRequest(${text(method)}, ${text(url)}, ${body === undefined ? "nil" : `strings.NewReader(${text(body)})`})`,
    "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}",
    ...Object.entries(headers).map(([name, value]) => `\trequest.Header.Set(${text(name)}, ${text(value)})`),
    "\tresponse, err := http.DefaultClient.Do(request)",
    "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}",
    "\tdefer response.Body.Close()",
    "\tanswer, err := io.ReadAll(response.Body)",
    "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}",
    "\tfmt.Println(response.StatusCode, string(answer))",
    "}",
  ].join("\n");

/** By the name of the language. JSON strings are valid in each of them. */
export const snippets: Readonly<Record<string, (call: PlainCall) => string>> = { curl, fetch: javascript, Python: python, Go: go };
