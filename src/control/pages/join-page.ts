// The page by which a browser joins a workshop, and follows the steps.

import { once } from "../../kernel/once.ts";
import { inlinePage } from "./inline-page.ts";
import style from "./join.css?raw";
import html from "./join.html?raw";
import script from "./join.js?raw";
import pageStyle from "./page.css?raw";

export const joinPage = once(() => inlinePage({ html, styles: [pageStyle, style], script }));
