// A registry that serves the packed package, because Deno cannot install a tarball. Requests for other packages are
// redirected to another registry.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

/** Resolves to the listening server. */
export async function openRegistry(tarball, manifest, elsewhere) {
  const packed = readFileSync(tarball);
  const integrity = `sha512-${createHash("sha512").update(packed).digest("base64")}`;
  const server = createServer(({ url }, response) => {
    if (url === "/package.tgz") return response.end(packed);
    if (url !== `/${manifest.name}`) return response.writeHead(302, { location: new URL(url, elsewhere).href }).end();
    const version = { ...manifest, dist: { tarball: `${urlOf(server)}/package.tgz`, integrity } };
    const document = {
      name: manifest.name,
      "dist-tags": { latest: manifest.version },
      versions: { [manifest.version]: version },
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

export const urlOf = (server) => `http://127.0.0.1:${server.address().port}`;
