// JSON text that is sent as it is: it was validated when it was stored, so parsing and serialising it again would be wasted work.

export class PreserializedJson<T> {
  readonly text: string;
  /** Exists only in the types: the type of the value that the text encodes. */
  declare readonly value: T;

  constructor(text: string) {
    this.text = text;
  }
}
