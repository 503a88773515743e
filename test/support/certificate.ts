// A self-signed certificate for localhost, made by openssl.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./program.ts";

/** The options of a server with the certificate, and its file. */
export function selfSigned() {
  const at = folder();
  const [key, file] = [join(at, "key.pem"), join(at, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", file, ...subject];
  execFileSync("openssl", ["req", ...options], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(file), file };
}
