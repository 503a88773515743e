// Loaded into the short-lived programs of tests before they call `fetch`. The HTTP parser of `fetch` is WebAssembly,
// which V8 compiles twice. Without the second compilation, by TurboFan, the first `fetch` of a process takes half the
// CPU time.

require("node:v8").setFlagsFromString("--liftoff-only");
