// The board of a workshop as a page, for a projector.

import { once } from "../../kernel/once.ts";
import style from "./board.css?raw";
import html from "./board.html?raw";
import script from "./board.js?raw";
import { inlinePage } from "./inline-page.ts";
import pageStyle from "./page.css?raw";

export const boardPage = once(() => inlinePage({ html, styles: [pageStyle, style], script }));
