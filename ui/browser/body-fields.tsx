// The body of a call in the explorer: a field for each property, beside the whole body as JSON.

import { useState } from "preact/hooks";
import { isObject } from "../../src/kernel/json-object.ts";
import { jsonMistake } from "../connection/json-mistake.ts";
import { choicesOf, textOfValue, valueOfJson, valueOfText } from "../connection/json-schema.ts";
import type { FormField } from "../panes/overlays/field.ts";
import { type ApiField, typeText } from "./api-document.ts";
import { Field } from "./form-field.tsx";

type Properties = Readonly<Record<string, unknown>>;

interface BodyFieldsProps {
  fields: readonly ApiField[];
  /** The id of the input for the whole body. */
  id: string;
  value: string;
  onWrite(text: string): void;
}

/**
 * A body that is not an object can be sent too, to see how the service rejects it. The fields then keep the values of
 * the last object, and are disabled, because changing a field would replace the text of the body.
 */
export function BodyFields({ fields, id, value, onWrite }: BodyFieldsProps) {
  // Shows the text as it was typed, because the JSON of its value may be written differently. The text is kept until
  // the body changes elsewhere.
  const [typed, setTyped] = useState({ name: "", text: "", body: "" });
  const [last, setLast] = useState<Properties>({});
  const current = objectOf(value);
  const body = current ?? last;
  const textIn = (name: string) =>
    typed.name === name && typed.body === value ? typed.text : textOfValue(body[name] ?? "");
  const writeField = (field: ApiField, text: string) => {
    const changed = withProperty(body, field, text);
    setTyped({ name: field.name, text, body: changed });
    onWrite(changed);
  };
  const writeBody = (text: string) => {
    if (current) setLast(current);
    onWrite(text);
  };
  return (
    <div class="body">
      <fieldset disabled={!current} aria-label="Fields of the body">
        {fields
          .filter(({ name }) => !name.includes("."))
          .map((field) => (
            <Field
              key={field.name}
              field={formFieldOf(field)}
              id={`body-${field.name}`}
              isRequired={field.isRequired}
              value={textIn(field.name)}
              onWrite={(text) => writeField(field, text)}
            />
          ))}
      </fieldset>
      <Field
        field={{ name: "body", help: "JSON" }}
        problem={current ? undefined : (jsonMistake(value) ?? "Expected an object, such as {}")}
        rows={Math.max(4, value.split("\n").length + 1)}
        {...{ id, value, onWrite: writeBody }}
      />
    </div>
  );
}

function objectOf(text: string): Properties | undefined {
  const value = valueOfJson(text);
  return isObject(value) ? (value as Properties) : undefined;
}

function formFieldOf({ name, description, schema = {} }: ApiField): FormField {
  const choices = choicesOf(schema);
  const help = `${description}${description && ". "}${choices ? "" : typeText(schema)}`;
  return {
    name,
    help,
    ...(choices && { options: [{ value: "", label: "-", help }, ...choices.map((value) => ({ value, help }))] }),
  };
}

/** Sets a property of the body to the value of a text. An empty text removes the property. */
function withProperty(body: Properties, { name, schema = {} }: ApiField, text: string): string {
  const { [name]: _, ...others } = body;
  return JSON.stringify(text === "" ? others : { ...body, [name]: valueOfText(schema, text) }, null, 2);
}
