// Loaded into the short-lived programs of tests before they call `fetch`. Its HTTP parser is WebAssembly, which V8
// compiles twice, the second time with TurboFan: without that, the first `fetch` of a process takes half the CPU time.

require("node:v8").setFlagsFromString("--liftoff-only");
