// Runs commands of the built program one after another in this process, because Node takes longer to start than most
// commands take to run. Each command has its own arguments, folder, variables and modules, and ends when the event loop
// is empty, as in a process of its own. File descriptor 3 carries the requests as lines of JSON, and the exit codes.

import { readFileSync, realpathSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { Socket } from "node:net";
import { basename, dirname } from "node:path";
import { createInterface } from "node:readline";
import { constants, Script } from "node:vm";

const require = createRequire(import.meta.url);
const channel = new Socket({ fd: 3 });
const emitters = [process, process.stdout, process.stderr];

/** The program's scripts by file. Each is compiled once, because compiling takes ten times as long as running. */
const scripts = new Map();

function compile(file) {
  const text = readFileSync(file, "utf8").replace(/^#!/, "//");
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const script = new Script(Module.wrap(text), { filename: file, importModuleDynamically });
  scripts.set(file, script);
  return script;
}

Module._extensions[".cjs"] = (module, file) => {
  // Skips the program's own cache on the disk, which is slower than `scripts`.
  if (basename(file) === "compiled-program.cjs") {
    module.exports = () => createRequire(file)("./program.cjs");
    return;
  }
  const script = scripts.get(file) ?? compile(file);
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
};

/**
 * The sockets of the running command. Its agent leaves idle sockets open. In a process of its own, the end of the
 * process would close them; here `cleanUp` closes them.
 */
const sockets = new Set();
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...given) {
  sockets.add(this);
  return connect.apply(this, given);
};

/** The listeners of each emitter by event. */
const listenersOf = () =>
  emitters.map((emitter) => new Map(emitter.eventNames().map((name) => [name, new Set(emitter.rawListeners(name))])));

let own = listenersOf();
let running;

function begin({ mark, program, words, cwd, variables }) {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, variables);
  process.argv = [process.execPath, program, ...words];
  process.exitCode = undefined;
  const entry = realpathSync(program);
  for (const file of Object.keys(require.cache)) if (dirname(file) === dirname(entry)) delete require.cache[file];
  own = listenersOf();
  running = { mark };
  channel.unref();
  require(entry);
}

/** Emits `exit` for the command's own listeners, and removes all of its listeners and sockets. */
function cleanUp(code) {
  emitters.forEach((emitter, index) => {
    for (const name of emitter.eventNames())
      for (const listener of emitter.rawListeners(name)) {
        if (own[index].get(name)?.has(listener)) continue;
        if (name === "exit") listener.call(emitter, code);
        emitter.removeListener(name, listener);
      }
  });
  for (const socket of sockets) socket.destroy();
  sockets.clear();
}

process.on("beforeExit", (code) => {
  if (running === undefined) return;
  const { mark } = running;
  running = undefined;
  cleanUp(code);
  process.stdout.write(mark);
  process.stderr.write(mark);
  channel.ref();
  channel.write(`${JSON.stringify({ code })}\n`);
});

createInterface({ input: channel }).on("line", (line) => begin(JSON.parse(line)));
// The channel closes when the tests have ended.
channel.on("close", () => process.exit());
