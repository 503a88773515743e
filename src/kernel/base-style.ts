// The style sheet that all pages share, before the rules of one page.

import baseStyle from "./base.css?raw";

/** The style sheet of a page, in one text. */
export const withBaseStyle = (style: string): string => `${baseStyle}\n${style}`;
