// The room of a workshop: a door that needs no control token. Whoever knows the room's address may join and learn, and nothing else.

import { Document } from "../contracts/document.ts";
import type { LearnerState } from "../contracts/lesson.ts";
import { currentStepText } from "../contracts/lesson-text.ts";
import { fail } from "../kernel/errors.ts";
import { randomToken } from "../kernel/random.ts";
import { nullable, oneOf, type Static, Type, text } from "../schema/shapes.ts";
import { type ControlContext, endpoint } from "./control-context.ts";
import { accessOf, begins, LearnerShape, LessonShape, learnerName, shownLearner, shownLesson, spanIn } from "./lessons.ts";

const CODE_LENGTH = 8;

export const RoomShape = Type.Object(
  {
    room: Type.String({ description: "The word that opens its door" }),
    url: Type.String({ description: "Where attendees join: POST …/join" }),
  },
  { title: "room" },
);

const PlaceShape = Type.Object(
  {
    learner: LearnerShape,
    apiKey: Type.String({ description: "The learner's own key, which is also the way back in" }),
    baseUrl: Type.String(),
    url: Type.String({ description: "The learner's own place in the room" }),
    lesson: Type.Union([LessonShape, Type.Null()], { description: "Ready to be run; null before the first one" }),
  },
  { title: "place" },
);

const asText = Type.Object({ format: Type.Optional(oneOf(["json", "text"], "`text` for a plain terminal; json unless given")) });
const documents = { text: "text/plain" };
const plain = (words: string) => new Document(documents.text, `${words}\n`);

type Here = Pick<ControlContext, "roomCode" | "about" | "lessons" | "tenants">;

const urlOf = ({ about }: Pick<Here, "about">, code: string) => `${about.url()}/_sandbox/room/${code}`;

export const roomOf = (here: Pick<Here, "about">, code: string) => ({ room: code, url: urlOf(here, code) });

/** Refuses everybody who does not know the room, in the same words whether there is one or not. */
export function enter({ roomCode }: Pick<Here, "roomCode">, code: string): void {
  if (roomCode.code() !== code) fail("resource_not_found", "There is no such room here. Ask whoever leads the workshop for its address.");
}

/** The learner whose key it is. */
async function learnerOf(here: Here, code: string, key: string): Promise<LearnerState> {
  enter(here, code);
  const merchant = here.tenants.identify(key)?.merchant;
  return merchant === undefined ? fail("resource_not_found", "Nobody in this room has that key.") : here.lessons.learner(merchant);
}

async function placeOf(here: Here, code: string, learner: LearnerState): Promise<Static<typeof PlaceShape>> {
  const access = accessOf(here, learner.id);
  const lesson = learner.lesson === null ? null : shownLesson(await here.lessons.find(learner.lesson, learner.id));
  return { learner: shownLearner(learner), ...access, url: `${urlOf(here, code)}/learners/${access.apiKey}`, lesson };
}

async function answer(here: Here, code: string, learner: LearnerState, format: string | undefined, greet = false) {
  const place = await placeOf(here, code, learner);
  if (format !== "text") return place;
  const step = place.lesson ? currentStepText(place.lesson, learner) : "No lesson was begun yet.";
  return plain([...(greet ? [greeting(place)] : []), step, ways(place)].join("\n\n"));
}

const greeting = ({ learner, apiKey, baseUrl }: Static<typeof PlaceShape>) =>
  `Welcome, ${learner.name}. Your key is ${apiKey}, and the service is at ${baseUrl}. Both stand in the commands already.`;

function ways({ url, lesson, learner }: Static<typeof PlaceShape>): string {
  const file = lesson?.file ? [`the file ${lesson.file.name}:  curl -s '${url}/file?format=text' > ${lesson.file.name}`] : [];
  const go =
    learner.step === null
      ? [`another lesson:  curl -s --json '{"name": "${learner.next ?? "first-call"}"}' '${url}/lesson?format=text'`]
      : [];
  const ever = [`where you are:  curl -s '${url}?format=text'`, `a hint:  curl -s -X POST '${url}/hint?format=text'`];
  return ["--", ...file, ...go, ...ever, `leave this step out:  curl -s -X POST '${url}/skip?format=text'`].join("\n");
}

export const openRoom = endpoint({
  id: "room.open",
  area: "Lessons",
  method: "POST",
  path: "/room",
  summary: "Open the room of a workshop, or show the one that is open",
  description:
    "Attendees need no control token in it: who knows its address can join under a name, gets a merchant and a first step, and can steer nothing but its own lessons.",
  reply: RoomShape,
  handle({ roomCode, about }) {
    if (roomCode.code() === undefined) roomCode.open(randomToken().slice(0, CODE_LENGTH));
    return roomOf({ about }, roomCode.code() as string);
  },
});

export const closeRoom = endpoint({
  id: "room.close",
  area: "Lessons",
  method: "DELETE",
  path: "/room",
  summary: "Close the room; who learns goes on, and nobody else can join",
  reply: Type.Object({ closed: nullable(Type.String({ description: "Null where there was none" })) }),
  handle({ roomCode }) {
    const closed = roomCode.code() ?? null;
    roomCode.close();
    return { closed };
  },
});

/** A hint may have its learner's key in it. */
export const forEverybody = (state: LearnerState) => shownLearner({ ...state, hint: null });

export const showRoom = endpoint({
  id: "room.board",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}",
  summary: "The board, for everybody in the room: no keys",
  reply: Type.Object({ object: oneOf(["list"], "Always `list`"), data: Type.Array(LearnerShape) }),
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, ...here }) {
    enter(here, params.room);
    return { object: "list" as const, data: (await here.lessons.board()).map(forEverybody) };
  },
});

export const joinRoom = endpoint({
  id: "room.join",
  area: "Lessons",
  method: "POST",
  path: "/room/{room}/join",
  summary: "Join the room under a name: a merchant, its key, and the first step",
  query: asText,
  body: Type.Object({ name: learnerName, lesson: Type.Optional(text("Which lesson to begin with; the first unless given")) }),
  example: { name: "Ada" },
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found", "already_exists"],
  async handle({ params, query, body: { name, lesson }, ...here }) {
    enter(here, params.room);
    const wanted = await here.lessons.find(lesson ?? "1");
    const { id } = await here.lessons.join({ name: name ?? "" });
    return answer(here, params.room, await here.lessons.begin(id, wanted.name), query.format, true);
  },
});

export const showPlace = endpoint({
  id: "room.place",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}/learners/{key}",
  summary: "Where the learner with this key is: lesson, step and what to run",
  query: Type.Object({
    ...asText.properties,
    after: Type.Optional(Type.Integer({ description: "The version that is known: wait for a newer one", minimum: 0 })),
    within: Type.Optional(text("How long to wait for it, an hour at most; 25s unless given")),
  }),
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query: { format, after, within }, ...here }) {
    const learner = await learnerOf(here, params.room, params.key);
    if (after === undefined) return answer(here, params.room, learner, format);
    const newer = await here.lessons.newer(learner.id, after, spanIn("within", within) ?? 25_000);
    return answer(here, params.room, newer, format);
  },
});

export const showFile = endpoint({
  id: "room.file",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}/learners/{key}/file",
  summary: "The file that the learner's lesson works on, as it is at the start",
  query: asText,
  reply: Type.Object({ name: Type.String(), text: Type.String() }),
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query, ...here }) {
    const learner = await learnerOf(here, params.room, params.key);
    const { lesson } = await placeOf(here, params.room, learner);
    if (!lesson?.file) return fail("resource_not_found", "The lesson that you are in has no file.");
    const { name, start } = lesson.file;
    return query.format === "text" ? new Document(documents.text, start) : { name, text: start };
  },
});

export const hintInRoom = endpoint({
  id: "room.hint",
  area: "Lessons",
  method: "POST",
  path: "/room/{room}/learners/{key}/hint",
  summary: "A hint for the learner with this key",
  query: asText,
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query, ...here }) {
    const { id } = await learnerOf(here, params.room, params.key);
    const learner = await here.lessons.hint(id);
    return query.format === "text" ? plain(learner.hint ?? "This step has no hint.") : answer(here, params.room, learner, undefined);
  },
});

export const skipInRoom = endpoint({
  id: "room.skip",
  area: "Lessons",
  method: "POST",
  path: "/room/{room}/learners/{key}/skip",
  summary: "Leave out the step that the learner with this key is at",
  query: asText,
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found", "invalid_state"],
  async handle({ params, query, ...here }) {
    const { id } = await learnerOf(here, params.room, params.key);
    return answer(here, params.room, await here.lessons.skip(id), query.format);
  },
});

export const beginInRoom = endpoint({
  id: "room.begin",
  area: "Lessons",
  method: "POST",
  path: "/room/{room}/learners/{key}/lesson",
  summary: "Begin a lesson, for the learner with this key",
  query: asText,
  body: Type.Object(begins),
  example: { name: "paging" },
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query, body: { name = "", checkpoint }, ...here }) {
    const { id } = await learnerOf(here, params.room, params.key);
    return answer(here, params.room, await here.lessons.begin(id, name, checkpoint), query.format);
  },
});
