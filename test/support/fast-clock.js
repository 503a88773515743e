// Makes time pass CLOCK_SPEED times as fast in this process and in its child processes. Commands of the documentation
// that wait some seconds then end sooner.

const speed = Number(process.env.CLOCK_SPEED);
const { setTimeout: startTimeout, setInterval: startInterval } = globalThis;
const RealDate = Date;
const origin = RealDate.now();
const elapsed = performance.now.bind(performance);
const start = elapsed();

performance.now = () => start + (elapsed() - start) * speed;
const now = () => origin + (RealDate.now() - origin) * speed;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }
  static now() {
    return now();
  }
};
globalThis.setTimeout = (callback, delay = 0, ...words) => startTimeout(callback, delay / speed, ...words);
globalThis.setInterval = (callback, delay = 0, ...words) => startInterval(callback, delay / speed, ...words);
