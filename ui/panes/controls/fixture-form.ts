// The key that saves a merchant as a fixture: a form with a path in a terminal, a download in a browser.

import { controlCalls } from "../../../src/client/control-call.ts";
import { fixtureText, recordCount } from "../../../src/client/fixture-text.ts";
import { plural } from "../../../src/kernel/text.ts";
import { type NewFile, type StateUpdate, shortMerchant, type UiState } from "../../state/state.ts";
import { type CallResult, makeCall } from "../../state/updates.ts";
import { optionalHelp } from "../overlays/field.ts";
import { openForm } from "../overlays/form.ts";
import { type Form, submission } from "../overlays/form-view.ts";

const callOf = (id: string) => controlCalls.merchants.fixture({ id });
const nameOf = (id: string) => `${shortMerchant(id)}.json`;

const resultOf =
  (id: string, file: Omit<NewFile, "text">) =>
  (fixture: Parameters<typeof fixtureText>[0]): CallResult => ({
    message: `${id} with ${plural(recordCount(fixture), "record")}, for start --fixtures`,
    file: { ...file, text: fixtureText(fixture) },
    undo: null,
  });

export const saveFixture = (state: UiState, id: string): StateUpdate =>
  state.isPage
    ? makeCall(state, callOf(id), resultOf(id, { path: nameOf(id), overwrites: false }))
    : openForm(state, fixtureForm(id));

const OVERWRITE = "overwrite";

const fixtureForm = (id: string): Form => ({
  title: "Save a fixture",
  verb: () => "Save",
  fields: () => [
    { name: "file", ...optionalHelp("Path of the file to write", nameOf(id)), initial: nameOf(id) },
    {
      name: "existing",
      label: "existing file",
      help: "What to do if the file exists",
      options: [{ value: "", label: "keep" }, { value: OVERWRITE }],
    },
  ],
  sentence: (_call, { state }) => `Writes ${id} and its records, as ${state.target.url} has them now.`,
  submission: ({ file = "", existing }) =>
    submission(callOf(id), resultOf(id, { path: file.trim() || nameOf(id), overwrites: existing === OVERWRITE })),
});
