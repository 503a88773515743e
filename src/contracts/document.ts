// An answer that is no JSON: a page, a file for another program. The control plane gives some; the service never does.

/** What a page may do in a browser: be looked at. No script, no request, no form, no frame around it. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export class Document {
  /** One of those that the operation declares. */
  readonly contentType: string;
  readonly text: string;
  /** What it may do in a browser, where it is a page. The page itself may say more strictly which style it has. */
  readonly policy: string;

  constructor(contentType: string, text: string, policy = PAGE_POLICY) {
    this.contentType = contentType;
    this.text = text;
    this.policy = policy;
  }
}
