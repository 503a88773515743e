// The text that the screen must show after a key of the key bar is pressed, by the label of the key.

/**
 * Each pattern matches a text that the test writes: `open:` and the title of the details or form, `notice:` and the
 * notice, `typed:` and the filter or search being typed, `copied:` and a copied text.
 */
const SEEN: Readonly<Record<string, RegExp>> = {
  "details|open link|clock|fault|new merchant|rate limit|trigger|help|quit|next|previous|body|find|reset|snapshot|edit":
    /^open: [^\n]/m,
  "next pane|next field|choose|more|back|next match|clear filter|clear search|follow":
    /^open: [^\n]*\nnotice: (?:Cancelled|All merchants are shown)?$/m,
  "apply|keep|clear": /^typed: none/m,
  "failed, earlier": /^typed: (?!none)/m,
  "filter|search": /^typed: (?!none)|^open: Commands/m,
  "copy curl|copy": /^copied: .*curl /m,
  "copy body|copy secret": /^copied: [^\n]/m,
  "compare|stop|stop or leave": /^open: [^\n]/m,
  "send test": /^notice: [^\n]/m,
  "rotate secret": /^open: Confirm/m,
  "disable, enable": /^notice: (?:Disabled|Enabled)|^open: Confirm/m,
  link: /^copied: http.*#/m,
  verify: /^copied: [\s\S]*openssl/m,
  jump: /^open: [^\n]|^notice: req_\w+ caused no delivery/m,
  "outage|cut": /^open: Arm a fault/m,
  "end outage": /^notice: Ended the outage/m,
  fixture: /^open: Save a fixture|^notice: Downloaded /m,
  "one merchant": /^notice: (?:Only|All merchants|m follows)/m,
  scenario: /^(?:open: Start a scenario|notice: (?:Disarmed|Ended) )/m,
  send: /^notice: (?:Armed|Clock|Created|Saved|Started|Triggered|Booking|mer_lodge has )|^open: Confirm/m,
  exhaust: /^notice: Exhausted/m,
  "remove|answer yes": /^notice: (?:Removed|Reset)|^open: Confirm/m,
  replay: /^notice: Replayed/m,
  resend: /^notice: Resent/m,
  "suspend, reactivate": /^notice: Suspended/m,
  freeze: /^notice: Display frozen/m,
  undo: /^notice: Undone/m,
  "arm again": /^notice: Armed again/m,
  "run|answer no": /^notice: (?:Copied|Cancelled)/m,
};

/** Labels that name what the key acts on, such as `undo fault`, each with the label that replaces it in `SEEN`. */
const NAMING: readonly [RegExp, string][] = [
  [/^undo .*/, "undo"],
  [/^(?:reset|remove) (?:everything|all faults)$/, "answer yes"],
  [/^keep (?:everything|them|it)$/, "answer no"],
];

/** The pattern for a label. For an unknown label, it matches only an empty text. */
export function seenAfter(label: string): RegExp {
  const name = NAMING.reduce((text, [naming, named]) => text.replace(naming, named), label.toLowerCase());
  return Object.entries(SEEN).find(([labels]) => labels.split("|").includes(name))?.[1] ?? /^$/;
}
