// Imports of a file's text, which the build and vitest read as it is: `import style from "./page.css?raw"`.

declare module "*?raw" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: vite gives the text of a file as its default export.
  export default text;
}
