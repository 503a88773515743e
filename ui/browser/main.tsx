// Starts the dashboard in a browser.

import { render } from "preact";
import { openBrowserDashboard } from "./browser-dashboard.ts";
import { listenForKeys } from "./keyboard.ts";
import { placeIn } from "./room-perform.ts";
import { Shell } from "./shell.tsx";
import { readToken } from "./token-view.tsx";
import { views } from "./views.ts";

const root = document.getElementById("root") as HTMLElement;
const place = placeIn(location.hash);
const dashboard = openBrowserDashboard({
  target: { url: location.origin, token: place ? undefined : readToken() },
  views,
  place,
  paint: () => render(<Shell dashboard={dashboard} />, root),
});

listenForKeys(dashboard);
render(<Shell dashboard={dashboard} />, root);
