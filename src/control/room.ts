// A workshop room: open, close and join it, and show its board. Paths below the room's URL require its code instead of
// the control token.

import { endpointFactory } from "../areas/declare/operation.ts";
import { ShownLearner } from "../contracts/lesson.ts";
import { fail } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { isSameToken, randomToken } from "../kernel/random.ts";
import { withBaseStyle } from "../report/html-page.ts";
import { nullable, oneOf, Type, text } from "../schema/shapes.ts";
import type { Stores } from "../store/stores.ts";
import {
  accessOf,
  type LessonParts,
  learnerAccess,
  learnerName,
  placeText,
  plainText,
  showLearner,
  textDocuments,
  textFormat,
} from "./lessons.ts";
import boardStyle from "./pages/board.css?raw";
import boardHtml from "./pages/board.html?raw";
import boardScript from "./pages/board.js?raw";
import { inlinePage } from "./pages/inline-page.ts";
import joinStyle from "./pages/join.css?raw";
import joinHtml from "./pages/join.html?raw";
import joinScript from "./pages/join.js?raw";

interface Parts extends LessonParts, Pick<Stores, "roomCode"> {}

const endpoint = endpointFactory<Parts>("Lessons");

const boardPage = once(() => inlinePage({ html: boardHtml, style: withBaseStyle(boardStyle), script: boardScript }));
const joinPage = once(() => inlinePage({ html: joinHtml, style: withBaseStyle(joinStyle), script: joinScript }));

/** Hexadecimal digits: 64 bits, too many to guess, so wrong codes need not be limited. */
const CODE_LENGTH = 16;

const RoomShape = Type.Object(
  {
    room: Type.String({ description: "The code of the room, part of its URL" }),
    url: Type.String({ description: "The URL of the room; participants join with POST …/join" }),
  },
  { title: "room" },
);

const BoardShape = Type.Object(
  {
    object: oneOf(["list"], "Always `list`"),
    url: Type.String({ description: "The URL at which participants join" }),
    data: Type.Array(ShownLearner, {
      description: "The learners, in the order in which they joined; without hints, because they may contain API keys",
    }),
  },
  { title: "board" },
);

const pageFormat = Type.Object({
  format: Type.Optional(oneOf(["html", "json"], "The format of the response (default: html)", { default: "html" })),
});
const pageDocuments = { html: "text/html" };

const roomReply = ({ about }: Pick<Parts, "about">, code: string) => ({
  room: code,
  url: `${about.url()}/_sandbox/room/${code}`,
});

/**
 * Fails with 404 unless the code belongs to the open room. The message is the same if no room is open, so that it
 * reveals nothing.
 */
const access = {
  requireRoom({ roomCode, params }: Pick<Parts, "roomCode"> & { params: Record<string, string> }): void {
    if (!isSameToken(roomCode.code() ?? "", params.room ?? ""))
      fail("resource_not_found", "No room with this code is open. Ask the workshop host for its URL.");
  },
};

const openRoom = endpoint({
  id: "room.open",
  method: "POST",
  path: "/room",
  summary: "Open a workshop room, or get the open one",
  description:
    "Participants need the room's URL and no control token. Each joins with a name, gets a merchant with an API key and the first step of a lesson. " +
    "With that key as `Authorization: Bearer …` a participant makes the calls of this API that learners may make, for their own merchant.",
  reply: RoomShape,
  handle({ roomCode, about }) {
    if (roomCode.code() === undefined) roomCode.open(randomToken().slice(0, CODE_LENGTH));
    return roomReply({ about }, roomCode.code() as string);
  },
});

const closeRoom = endpoint({
  id: "room.close",
  method: "DELETE",
  path: "/room",
  summary: "Close the room",
  description:
    "New people cannot join. Current participants keep their keys; removing a learner revokes the key's access to this API.",
  reply: Type.Object({
    closed: nullable(Type.String({ description: "The code of the closed room; null if none was open" })),
  }),
  handle({ roomCode }) {
    const closed = roomCode.code() ?? null;
    roomCode.close();
    return { closed };
  },
});

const showRoomBoard = endpoint({
  id: "room.board",
  method: "GET",
  path: "/room/{room}/board",
  access,
  summary: "Get the board of a room as a page that updates itself, or its learners without keys",
  query: pageFormat,
  reply: BoardShape,
  documents: pageDocuments,
  errors: ["resource_not_found"],
  async handle({ params, query, ...context }) {
    if (query.format !== "json") return boardPage();
    const data = (await context.lessons.learners()).map((learner) => showLearner({ ...learner, hint: null }));
    return { object: "list" as const, url: roomReply(context, params.room).url, data };
  },
});

const showJoinPage = endpoint({
  id: "room.join_page",
  method: "GET",
  path: "/room/{room}/join",
  access,
  summary: "Get the page on which a browser joins the room and follows the lesson",
  query: pageFormat,
  reply: RoomShape,
  documents: pageDocuments,
  errors: ["resource_not_found"],
  handle: ({ params, query, ...context }) => (query.format === "json" ? roomReply(context, params.room) : joinPage()),
});

const joinRoom = endpoint({
  id: "room.join",
  method: "POST",
  path: "/room/{room}/join",
  access,
  summary: "Join a room: get a merchant, its API key and the first step",
  query: Type.Object(textFormat),
  body: Type.Object({
    name: learnerName,
    lesson: Type.Optional(text("The name or number of the lesson to begin with (default: the first)")),
  }),
  example: { name: "Ada" },
  reply: Type.Object({ learner: ShownLearner, ...learnerAccess }),
  documents: textDocuments,
  errors: ["resource_not_found", "already_exists", "invalid_state"],
  async handle({ query, body: { name = "", lesson = "1" }, ...context }) {
    const wanted = await context.lessons.find(lesson);
    const { id } = await context.lessons.join({ name });
    const learner = await context.lessons.begin(id, wanted.name);
    const access = accessOf(context, id);
    if (query.format !== "text") return { learner: showLearner(learner), ...access };
    const welcome = `Welcome, ${learner.name}. Your key is ${access.apiKey}, and the service is at ${access.baseUrl}. Both are filled in in the commands below.`;
    return plainText(`${welcome}\n\n${await placeText(context, learner)}`);
  },
});

export const operations = [openRoom, closeRoom, showRoomBoard, showJoinPage, joinRoom];
