// The schema of the body of an error.

import { assumed } from "../schema/assumed.ts";
import { Type, text } from "../schema/shapes.ts";

const fieldError = Type.Object({
  pointer: text("JSON Pointer to the field"),
  field: text("Path of the field in dot notation"),
  code: text("Code of the validation error"),
  message: text("Description of the validation error"),
});

export const errorObject = Type.Object(
  {
    error: text("Category of the error"),
    message: Type.Optional(text("Description of the error and how to fix it")),
    code: Type.Optional(text("Error code for the exact condition")),
    details: Type.Optional(
      assumed(
        Type.Object(
          {
            requestId: Type.Optional(text("Id of the request in the sandbox's request log")),
            errors: Type.Optional(Type.Array(fieldError, { description: "Validation errors, one per invalid field" })),
          },
          { description: "Machine-readable details; further fields depend on the error code", additionalProperties: true },
        ),
        "The service's documentation says that `details` is an object but not what it contains.",
      ),
    ),
  },
  { title: "error", description: "The body of every response with a status of 400 or above" },
);
