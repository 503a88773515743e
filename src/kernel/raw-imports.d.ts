// Imports the unchanged text of a file, in the build and in vitest: `import style from "./page.css?raw"`.

declare module "*?raw" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: vite gives the text of a file as its default export.
  export default text;
}
