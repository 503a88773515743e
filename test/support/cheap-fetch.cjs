// Loaded into the short-lived programs of tests before they call `fetch`. Its HTTP parser is WebAssembly, which V8
// compiles twice. Without the second compilation, by TurboFan, a process's first `fetch` takes half as much CPU time.

require("node:v8").setFlagsFromString("--liftoff-only");
