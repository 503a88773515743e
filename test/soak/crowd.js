// Opens idle connections, prints how many were accepted, and exits when its input ends.

import { connect } from "node:net";

const [port, wanted] = process.argv.slice(2).map(Number);
const AT_ONCE = 200;

/** Resolves to false if the connection failed, because this process or the sandbox has no more file descriptors. */
const open = () =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.pause();
    socket.once("connect", () => resolve(true));
    socket.on("error", () => resolve(false));
  });

let opened = 0;
let enough = false;
while (opened < wanted && !enough) {
  const came = await Promise.all(Array.from({ length: Math.min(AT_ONCE, wanted - opened) }, open));
  opened += came.filter(Boolean).length;
  enough = came.includes(false);
}
process.stdout.write(`${opened}\n`);
process.stdin.resume().once("end", () => process.exit());
