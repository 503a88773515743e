// Runs the browser tests of the shop with one app process for all workers.

const { CHROMIUM, PORT, WORKERS } = process.env;

module.exports = {
  testDir: ".",
  fullyParallel: true,
  workers: Number(WORKERS),
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: "line",
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    launchOptions: { executablePath: CHROMIUM, args: ["--no-sandbox"] },
  },
  webServer: { command: "node shop.js", url: `http://127.0.0.1:${PORT}/`, timeout: 60_000 },
};
