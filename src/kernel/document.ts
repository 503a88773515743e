// An answer that is no JSON: a page, a file for another program. The control plane gives some; the service never does.

export class Document {
  /** One of those that the operation declares. */
  readonly contentType: string;
  readonly text: string;

  constructor(contentType: string, text: string) {
    this.contentType = contentType;
    this.text = text;
  }
}

/**
 * What a page may do in a browser: be looked at. No script, no request, no form, no frame around it. The page itself may
 * say more strictly which style it has.
 */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
