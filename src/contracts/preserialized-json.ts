// JSON text that is ready to go out. It was held against its schema when it was stored, and is not taken apart to be sent.

export class PreserializedJson<T> {
  readonly text: string;
  /** For the compiler alone: what the text says. */
  declare readonly value: T;

  constructor(text: string) {
    this.text = text;
  }
}
