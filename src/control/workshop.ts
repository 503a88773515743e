// The control operations of a workshop room. They require the room's code instead of the control token, and reach lessons only.

import { Document } from "../contracts/document.ts";
import { type LearnerState, Lesson, ShownLearner } from "../contracts/lesson.ts";
import { currentStepText } from "../contracts/lesson-text.ts";
import { fail } from "../kernel/errors.ts";
import { randomToken } from "../kernel/random.ts";
import { nullable, oneOf, type Static, Type, text } from "../schema/shapes.ts";
import { type ControlContext, endpoint } from "./control-context.ts";
import { LearnerList, learnerAccess, learnerName, lessonChoice, parseWait, shownLearner } from "./lessons.ts";

/** Hexadecimal digits: 64 bits, so that guessing is hopeless without counting wrong codes. */
const CODE_LENGTH = 16;

export const RoomShape = Type.Object(
  {
    room: Type.String({ description: "The code of the room, part of its URL" }),
    url: Type.String({ description: "The URL of the room; participants join with POST …/join" }),
  },
  { title: "room" },
);

const PlaceShape = Type.Object(
  {
    learner: ShownLearner,
    apiKey: Type.String({ description: "The learner's API key, also used to come back to the room" }),
    baseUrl: Type.String(),
    url: Type.String({ description: "The learner's URL in the room" }),
    lesson: Type.Union([Lesson, Type.Null()], {
      description: "The current lesson, with the learner's URL, key and merchant filled in; null before the first one",
    }),
  },
  { title: "place" },
);

const textFormat = Type.Object({
  format: Type.Optional(oneOf(["json", "text"], "The format of the response; `text` is for a plain terminal (default: json)")),
});
const documents = { text: "text/plain" };
const plainText = (words: string) => new Document(documents.text, `${words}\n`);

type RoomContext = Pick<ControlContext, "roomCode" | "about" | "lessons" | "tenants">;

const roomUrl = ({ about }: Pick<RoomContext, "about">, code: string) => `${about.url()}/_sandbox/room/${code}`;

export const roomReply = (context: Pick<RoomContext, "about">, code: string) => ({ room: code, url: roomUrl(context, code) });

/** Throws a 404 if the code is not that of the open room. The message is the same if no room is open, so that it reveals nothing. */
export function requireRoom({ roomCode }: Pick<RoomContext, "roomCode">, code: string): void {
  if (roomCode.code() !== code) fail("resource_not_found", "No room with this code is open. Ask the workshop host for its URL.");
}

/** Finds a learner by API key. Throws a 404 for the key of a merchant that is no learner. */
export async function findLearner(context: RoomContext, code: string, key: string): Promise<LearnerState> {
  requireRoom(context, code);
  const merchant = context.tenants.identify(key)?.merchant;
  return merchant === undefined ? fail("resource_not_found", "No learner in this room has this key.") : context.lessons.learner(merchant);
}

async function learnerPlace(context: RoomContext, code: string, learner: LearnerState): Promise<Static<typeof PlaceShape>> {
  const access = learnerAccess(context, learner.id);
  const lesson = learner.lesson === null ? null : await context.lessons.find(learner.lesson, learner.id);
  return { learner: shownLearner(learner), ...access, url: `${roomUrl(context, code)}/learners/${access.apiKey}`, lesson };
}

async function placeReply(context: RoomContext, code: string, learner: LearnerState, format: string | undefined, greet = false) {
  const place = await learnerPlace(context, code, learner);
  if (format !== "text") return place;
  const step = place.lesson ? currentStepText(place.lesson, learner) : "No lesson has begun yet.";
  return plainText([...(greet ? [greeting(place)] : []), step, commandList(place)].join("\n\n"));
}

const greeting = ({ learner, apiKey, baseUrl }: Static<typeof PlaceShape>) =>
  `Welcome, ${learner.name}. Your key is ${apiKey}, and the service is at ${baseUrl}. Both are filled in in the commands below.`;

function commandList({ url, lesson, learner }: Static<typeof PlaceShape>): string {
  const file = lesson?.file ? [`the file ${lesson.file.name}:  curl -s '${url}/file?format=text' > ${lesson.file.name}`] : [];
  const go =
    learner.step === null
      ? [`another lesson:  curl -s --json '{"name": "${learner.next ?? "first-call"}"}' '${url}/lesson?format=text'`]
      : [];
  const ever = [`where you are:  curl -s '${url}?format=text'`, `a hint:  curl -s -X POST '${url}/hint?format=text'`];
  return ["--", ...file, ...go, ...ever, `skip this step:  curl -s -X POST '${url}/skip?format=text'`].join("\n");
}

export const openRoom = endpoint({
  id: "room.open",
  area: "Lessons",
  method: "POST",
  path: "/room",
  summary: "Open a workshop room, or get the open one",
  description:
    "Participants need the room's URL and no control token. Each joins with a name, gets a merchant and the first step of a lesson, and can control only that lesson.",
  reply: RoomShape,
  handle({ roomCode, about }) {
    if (roomCode.code() === undefined) roomCode.open(randomToken().slice(0, CODE_LENGTH));
    return roomReply({ about }, roomCode.code() as string);
  },
});

export const closeRoom = endpoint({
  id: "room.close",
  area: "Lessons",
  method: "DELETE",
  path: "/room",
  summary: "Close the room",
  reply: Type.Object({ closed: nullable(Type.String({ description: "The code of the closed room; null if none was open" })) }),
  handle({ roomCode }) {
    const closed = roomCode.code() ?? null;
    roomCode.close();
    return { closed };
  },
});

/** Hides the hint, which may contain the learner's API key. */
export const withoutHint = (state: LearnerState) => shownLearner({ ...state, hint: null });

export const showRoom = endpoint({
  id: "room.board",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}",
  summary: "List the learners in a room, without keys",
  reply: LearnerList,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, ...context }) {
    requireRoom(context, params.room);
    return { object: "list" as const, data: (await context.lessons.learners()).map(withoutHint) };
  },
});

export const joinRoom = endpoint({
  id: "room.join",
  area: "Lessons",
  method: "POST",
  path: "/room/{room}/join",
  summary: "Join a room: get a merchant, its API key and the first step",
  query: textFormat,
  body: Type.Object({
    name: learnerName,
    lesson: Type.Optional(text("The name or number of the lesson to begin with (default: the first)")),
  }),
  example: { name: "Ada" },
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found", "already_exists", "invalid_state"],
  async handle({ params, query, body: { name, lesson }, ...context }) {
    requireRoom(context, params.room);
    const wanted = await context.lessons.find(lesson ?? "1");
    const { id } = await context.lessons.join({ name: name ?? "" });
    return placeReply(context, params.room, await context.lessons.begin(id, wanted.name), query.format, true);
  },
});

export const showPlace = endpoint({
  id: "room.place",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}/learners/{key}",
  summary: "Get the lesson and step of the learner with this key",
  query: Type.Object({
    ...textFormat.properties,
    after: Type.Optional(Type.Integer({ description: "Wait until the learner's version is newer than this one", minimum: 0 })),
    within: Type.Optional(text("How long to wait, at most an hour (default: 25s)")),
  }),
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query: { format, after, within }, ...context }) {
    const learner = await findLearner(context, params.room, params.key);
    if (after === undefined) return placeReply(context, params.room, learner, format);
    const newer = await context.lessons.waitForNewer(learner.id, after, parseWait("within", within) ?? 25_000);
    return placeReply(context, params.room, newer, format);
  },
});

export const showFile = endpoint({
  id: "room.file",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}/learners/{key}/file",
  summary: "Get the initial file of the learner's lesson",
  query: textFormat,
  reply: Type.Object({ name: Type.String(), text: Type.String() }),
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query, ...context }) {
    const learner = await findLearner(context, params.room, params.key);
    const { lesson } = await learnerPlace(context, params.room, learner);
    if (!lesson?.file) return fail("resource_not_found", "The current lesson has no file.");
    const { name, start } = lesson.file;
    return query.format === "text" ? new Document(documents.text, start) : { name, text: start };
  },
});

export const hintInRoom = endpoint({
  id: "room.hint",
  area: "Lessons",
  method: "POST",
  path: "/room/{room}/learners/{key}/hint",
  summary: "Show a hint to the learner with this key",
  query: textFormat,
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query, ...context }) {
    const { id } = await findLearner(context, params.room, params.key);
    const learner = await context.lessons.hint(id);
    return query.format === "text"
      ? plainText(learner.hint ?? "This step has no hint.")
      : placeReply(context, params.room, learner, undefined);
  },
});

export const skipInRoom = endpoint({
  id: "room.skip",
  area: "Lessons",
  method: "POST",
  path: "/room/{room}/learners/{key}/skip",
  summary: "Skip the current step of the learner with this key",
  query: textFormat,
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found", "invalid_state"],
  async handle({ params, query, ...context }) {
    const { id } = await findLearner(context, params.room, params.key);
    return placeReply(context, params.room, await context.lessons.skip(id), query.format);
  },
});

export const beginInRoom = endpoint({
  id: "room.begin",
  area: "Lessons",
  method: "POST",
  path: "/room/{room}/learners/{key}/lesson",
  summary: "Begin a lesson for the learner with this key",
  query: textFormat,
  body: Type.Object(lessonChoice),
  example: { name: "paging" },
  reply: PlaceShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query, body: { name = "", checkpoint }, ...context }) {
    const { id } = await findLearner(context, params.room, params.key);
    return placeReply(context, params.room, await context.lessons.begin(id, name, checkpoint), query.format);
  },
});
