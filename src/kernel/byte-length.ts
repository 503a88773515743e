// The length of a text in UTF-8, in Node and in a browser.

const encoder = new TextEncoder();

export const byteLength = (text: string): number => encoder.encode(text).length;
