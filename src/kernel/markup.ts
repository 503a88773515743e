// An HTML template tag that escapes every value unless it is markup itself.

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type MarkupPart = Markup | string | number | null | undefined | readonly MarkupPart[];

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function markup(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return new Markup(strings.reduce((text, string, index) => text + render(parts[index - 1]) + string));
}

function render(part: MarkupPart): string {
  if (part === null || part === undefined) return "";
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(render).join("");
  // Replaces invisible characters and direction marks, which could disguise the rest of the text.
  const plain = String(part)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
  return plain.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
