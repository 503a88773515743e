// Headless Chromium for tests, driven over the DevTools protocol. Without Chromium, these tests are skipped.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { needs } from "./needs.ts";

const TIMEOUT_MS = 60_000;
const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** The browser's executable; undefined if no folder of PATH has one of these names. */
export const browserFile = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((file) => existsSync(file));

/** For test titles. Says why the test is skipped if no browser is installed. */
export const inBrowser = `in a browser${needs(browserFile !== undefined, `one of ${NAMES.join(", ")} in PATH`)}`;

export type Page = ReturnType<typeof pageOf>;

export type Browser = Awaited<ReturnType<typeof openBrowser>>;

interface DevToolsMessage {
  id?: number;
  method?: string;
  sessionId?: string;
  result?: Record<string, unknown>;
  error?: { message: string };
  params?: Record<string, unknown>;
}

/** Runs the browser, then removes its profile. Tries again while the browser's last processes still write there. */
const RUN = 'profile=$1; shift; "$@"; until rm -rf "$profile"; do sleep 0.1; done';

/** Starts a browser. When this process ends or is killed, the pipe to the browser closes, and the browser ends. */
function startBrowser(file: string) {
  const profile = mkdtempSync(join(tmpdir(), "merchant-sandbox-browser-"));
  const flags = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-startup-window",
    "--remote-debugging-pipe",
    `--user-data-dir=${profile}`,
  ];
  const stdio = ["ignore", "ignore", "ignore", "pipe", "pipe"] as const;
  const child = spawn("sh", ["-c", RUN, "sh", profile, file, ...flags], { stdio: [...stdio] });
  const [toBrowser, fromBrowser] = child.stdio.slice(3) as [Socket, Socket];
  const waiting = new Map<number, { resolve(message: DevToolsMessage): void; reject(error: Error): void }>();
  const listeners = new Map<string, (message: DevToolsMessage) => void>();
  const end = (error: Error) => {
    running = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  child.once("error", end).once("exit", (code) => end(new Error(`The browser exited with ${code}.`)));
  toBrowser.on("error", () => {});
  let received = "";
  fromBrowser.setEncoding("utf8").on("data", (text: string) => {
    const messages = (received + text).split("\0");
    received = messages.pop() ?? "";
    for (const message of messages.map((one) => JSON.parse(one) as DevToolsMessage)) {
      if (message.id !== undefined) waiting.get(message.id)?.resolve(message);
      else if (message.sessionId) listeners.get(message.sessionId)?.(message);
    }
  });
  let last = 0;
  const send: SendTo = async (method, params = {}, sessionId) => {
    const id = ++last;
    const { result, error } = await new Promise<DevToolsMessage>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      toBrowser.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
    }).finally(() => waiting.delete(id));
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  return { send, listeners, handles: [child, toBrowser, fromBrowser], windows: 0 };
}

type SendTo = (method: string, params?: object, sessionId?: string) => Promise<Record<string, unknown>>;

/** The one browser of this process, because a start takes several times the CPU time of a window. */
let running: ReturnType<typeof startBrowser> | undefined;

/** Opens a window with storage of its own. */
export async function openBrowser(file: string) {
  running ??= startBrowser(file);
  const browser = running;
  const { send, listeners, handles } = browser;
  // The browser keeps this process alive only while it has a window.
  if (browser.windows++ === 0) for (const handle of handles) handle.ref();
  const { browserContextId } = await send("Target.createBrowserContext", { disposeOnDetach: true });
  return {
    /**
     * Resolves when the page has loaded. `media` are the media features that the page sees, such as
     * `prefers-color-scheme`.
     */
    async open(url: string, media: Readonly<Record<string, string>> = {}) {
      const { targetId } = await send("Target.createTarget", { url: "about:blank", browserContextId });
      const { sessionId } = (await send("Target.attachToTarget", { targetId, flatten: true })) as { sessionId: string };
      const complaints: string[] = [];
      const loaded = new Promise<void>((resolve) =>
        listeners.set(sessionId, (message) => {
          complaints.push(...complaintsIn(message));
          if (message.method === "Page.loadEventFired") resolve();
        }),
      );
      for (const domain of ["Runtime", "Log", "Page"]) await send(`${domain}.enable`, {}, sessionId);
      // Pages are tabs of one window, because a window takes several times the CPU time of a tab. With this setting,
      // each tab behaves as if it were in front.
      await send("Emulation.setFocusEmulationEnabled", { enabled: true }, sessionId);
      const features = Object.entries(media).map(([name, value]) => ({ name, value }));
      await send("Emulation.setEmulatedMedia", { features }, sessionId);
      await send("Page.navigate", { url }, sessionId);
      await loaded;
      const downloadTo = (downloadPath: string) =>
        send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath, browserContextId });
      return pageOf((method, params = {}) => send(method, params, sessionId), complaints, downloadTo);
    },
    /** Closes the window with its pages. */
    async close() {
      await send("Target.disposeBrowserContext", { browserContextId });
      if (--browser.windows === 0) for (const handle of handles) handle.unref();
    },
  };
}

function complaintsIn({ method, params }: DevToolsMessage): string[] {
  if (method === "Runtime.exceptionThrown" || method === "Page.javascriptDialogOpening")
    return [JSON.stringify(params)];
  if (method !== "Log.entryAdded") return [];
  const { level, text } = (params as { entry: { level: string; text: string } }).entry;
  return level === "error" ? [text] : [];
}

type Send = (method: string, params?: object) => Promise<Record<string, unknown>>;

function pageOf(send: Send, complaints: string[], downloadTo: (folder: string) => Promise<unknown>) {
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result, exceptionDetails } = (await send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })) as {
      result: { value: Value };
      exceptionDetails?: { text: string; exception?: { value?: string } };
    };
    if (exceptionDetails)
      throw new Error(`${expression}: ${exceptionDetails.text} ${exceptionDetails.exception?.value ?? ""}`);
    return result.value;
  };
  return {
    /** Evaluates an expression in the page. If its value is a promise, awaits the promise. */
    evaluate,
    /** Script errors, policy violations and dialogs. */
    complaints,
    /** Makes the pages of this window save their downloads in this folder. */
    downloadTo,
    /** Sends a command of the DevTools protocol. */
    send,
    /**
     * Waits until an expression is true in the page. Evaluates it after every DOM change. On a timeout, fails with the
     * page's text.
     */
    shows: (condition: string) =>
      evaluate<void>(`new Promise((resolve, reject) => {
        const end = (act) => { observer.disconnect(); clearTimeout(timeout); act(); };
        const look = () => (${condition}) && end(resolve);
        const observer = new MutationObserver(look);
        const timeout = setTimeout(() => end(() => reject(document.body.innerText)), ${TIMEOUT_MS});
        observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
        look();
      })`),
    /** Presses a key as a keyboard does: a letter, or a name such as `Enter`. */
    press: (key: string, held?: { shift: boolean }) => pressKey(send, key, held?.shift),
    /**
     * Clicks the first visible element that matches the selector and contains the text. Fails if another element covers
     * its middle.
     */
    async click(selector: string, text = "") {
      const place = await evaluate<{ x: number; y: number } | string>(
        `(${placeOf})(${JSON.stringify(selector)}, ${JSON.stringify(text)})`,
      );
      if (typeof place === "string") throw new Error(place);
      const at = { ...place, button: "left", clickCount: 1 };
      for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
        await send("Input.dispatchMouseEvent", { type, ...at });
    },
    /** Replaces the text of an input. */
    write: (selector: string, text: string) =>
      evaluate<void>(`{ const input = document.querySelector(${JSON.stringify(selector)});
        input.value = ${JSON.stringify(text)};
        input.dispatchEvent(new Event("input", { bubbles: true })); }`),
    async resize(width: number, height: number) {
      await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    },
    /** The visible part as WebP. */
    async picture() {
      const { data } = await send("Page.captureScreenshot", { format: "webp", quality: 55 });
      return Buffer.from(String(data), "base64");
    },
  };
}

/** The codes of the keys that are not letters. Chromium acts on the code, and the page on the name. */
const KEY_CODES: Readonly<Record<string, number>> = {
  Enter: 13,
  Tab: 9,
  Escape: 27,
  Right: 39,
  Left: 37,
  Up: 38,
  Down: 40,
  PageDown: 34,
  End: 35,
  Home: 36,
};

async function pressKey(send: Send, name: string, isShifted = false): Promise<void> {
  const windowsVirtualKeyCode = KEY_CODES[name] ?? name.toUpperCase().charCodeAt(0);
  const key = /^(?:Right|Left|Up|Down)$/.test(name) ? `Arrow${name}` : name;
  const character = name.length === 1 ? name : undefined;
  const text = name === "Enter" ? "\r" : character;
  await send("Input.dispatchKeyEvent", {
    type: "keyDown",
    key,
    windowsVirtualKeyCode,
    ...(isShifted && { modifiers: 8 }),
    ...(text !== undefined && { text }),
  });
  await send("Input.dispatchKeyEvent", { type: "keyUp", key, windowsVirtualKeyCode });
}

/** Runs in the page. Returns the middle of the element to click, or a text that says why it cannot be clicked. */
const placeOf = `(selector, text) => {
  const found = [...document.querySelectorAll(selector)].find((one) =>
    one.textContent.includes(text) && one.checkVisibility());
  if (!found) return "No " + selector + " contains " + text + ". The page shows: " + document.body.innerText;
  found.scrollIntoView({ block: "nearest", inline: "nearest" });
  const { left, top, width, height } = found.getBoundingClientRect();
  const x = left + width / 2, y = top + height / 2;
  const hit = document.elementFromPoint(x, y);
  return found.contains(hit) ? { x, y } : selector + " with " + text + " is covered by " + hit?.outerHTML.slice(0, 200);
}`;
