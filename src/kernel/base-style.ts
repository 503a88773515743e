// The style sheet that all pages share, placed before a page's own rules.

import baseStyle from "./base.css?raw";

export const withBaseStyle = (style: string): string => `${baseStyle}\n${style}`;
