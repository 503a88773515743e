// A response that is not JSON, such as an HTML page or a JUnit file. Only control-api operations return one.

/** The default Content-Security-Policy: no scripts, requests, forms or embedding in frames. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export class Document {
  /** One of the content types that the operation declares in `documents`. */
  readonly contentType: string;
  readonly text: string;
  /** The Content-Security-Policy sent with the document. */
  readonly policy: string;

  constructor(contentType: string, text: string, policy = PAGE_POLICY) {
    this.contentType = contentType;
    this.text = text;
    this.policy = policy;
  }
}
