// The address of the dashboard's page.

import { PAGE_PATH } from "../contracts/paths.ts";

/** A sandbox on its own port redirects browsers from / to the page. In an app, / is the app's. */
export const pageAddress = (url: string) => (new URL(url).pathname === "/" ? `${url}/` : url + PAGE_PATH);
