// The 16 colours of common terminal palettes.

export interface Palette {
  text: string;
  background: string;
  /** Black to white, then bright black to bright white. */
  colours: readonly string[];
}

const palette = (text: string, background: string, colours: string): Palette => ({
  text,
  background,
  colours: colours.split(" "),
});

export const PALETTES: Readonly<Record<string, Palette>> = {
  "xterm, dark": palette(
    "ffffff",
    "000000",
    "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff",
  ),
  "xterm, light": palette(
    "000000",
    "ffffff",
    "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff",
  ),
  "Solarized Dark": palette(
    "839496",
    "002b36",
    "073642 dc322f 859900 b58900 268bd2 d33682 2aa198 eee8d5 002b36 cb4b16 586e75 657b83 839496 6c71c4 93a1a1 fdf6e3",
  ),
  "Solarized Light": palette(
    "657b83",
    "fdf6e3",
    "073642 dc322f 859900 b58900 268bd2 d33682 2aa198 eee8d5 002b36 cb4b16 586e75 657b83 839496 6c71c4 93a1a1 fdf6e3",
  ),
  Dracula: palette(
    "f8f8f2",
    "282a36",
    "21222c ff5555 50fa7b f1fa8c bd93f9 ff79c6 8be9fd f8f8f2 6272a4 ff6e6e 69ff94 ffffa5 d6acff ff92df a4ffff ffffff",
  ),
  "Gruvbox Dark": palette(
    "ebdbb2",
    "282828",
    "282828 cc241d 98971a d79921 458588 b16286 689d6a a89984 928374 fb4934 b8bb26 fabd2f 83a598 d3869b 8ec07c ebdbb2",
  ),
  "Gruvbox Light": palette(
    "3c3836",
    "fbf1c7",
    "fbf1c7 cc241d 98971a d79921 458588 b16286 689d6a 7c6f64 928374 9d0006 79740e b57614 076678 8f3f71 427b58 3c3836",
  ),
  "One Dark": palette(
    "dcdfe4",
    "282c34",
    "282c34 e06c75 98c379 e5c07b 61afef c678dd 56b6c2 dcdfe4 5a6374 e06c75 98c379 e5c07b 61afef c678dd 56b6c2 dcdfe4",
  ),
  "One Light": palette(
    "383a42",
    "fafafa",
    "383a42 e45649 50a14f c18301 0184bc a626a4 0997b3 fafafa 4f525d df6c75 98c379 e4c07a 61afef c577dd 56b5c1 ffffff",
  ),
  "Windows Campbell": palette(
    "cccccc",
    "0c0c0c",
    "0c0c0c c50f1f 13a10e c19c00 0037da 881798 3a96dd cccccc 767676 e74856 16c60c f9f1a5 3b78ff b4009e 61d6d6 f2f2f2",
  ),
};
