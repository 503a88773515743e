// A self-signed certificate for localhost, made by openssl.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./program.ts";

/** The options of a server with the certificate, and the path of the certificate. */
export function selfSigned() {
  const at = folder();
  const [key, file] = [join(at, "key.pem"), join(at, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  // Generating an elliptic-curve key takes a thousandth of the time of an RSA key.
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const options = ["-x509", ...curve, "-nodes", "-days", "2", "-keyout", key, "-out", file, ...subject];
  execFileSync("openssl", ["req", ...options], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(file), file };
}
