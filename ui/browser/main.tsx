// Starts the dashboard in a browser.

import { render } from "preact";
import { openBrowserDashboard } from "./browser-dashboard.ts";
import { listenForKeys } from "./keyboard.ts";
import { Shell } from "./shell.tsx";
import { readToken } from "./token-view.tsx";

const root = document.getElementById("root") as HTMLElement;
/** The path below which an app has mounted the sandbox; empty if the sandbox has its own port. */
const mountPath = location.pathname.replace(/\/_sandbox\/ui$/, "");
const dashboard = openBrowserDashboard({
  target: { url: location.origin + mountPath, token: readToken() },
  paint: () => render(<Shell dashboard={dashboard} />, root),
});

listenForKeys(dashboard);
render(<Shell dashboard={dashboard} />, root);
