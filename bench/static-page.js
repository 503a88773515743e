// Serves one HTML document, which loads nothing else.

import { createServer } from "node:http";

export function servePage(html) {
  const server = createServer((_incoming, outgoing) => outgoing.end(html));
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${server.address().port}/`,
        close: () => new Promise((done) => server.close(done).closeAllConnections()),
      }),
    ),
  );
}
