// Replies that are sent as they are: JSON that is already serialised, long JSON in parts, and documents of another
// media type.

export class PreserializedJson<T> {
  readonly text: string;
  /** The type of the value that the text encodes. Exists only for the compiler. */
  declare readonly value: T;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON that is too long for one string. Each part is made once the client has read the parts before it. */
export class JsonParts {
  readonly parts: Iterable<string>;

  constructor(parts: Iterable<string>) {
    this.parts = parts;
  }
}

/** The default Content-Security-Policy: no scripts, requests, forms or embedding in frames. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

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
