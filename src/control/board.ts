// The board of those who learn, for programs and as a page for the projector; and the door of a room as a page.

import { nullable, oneOf, Type } from "../schema/shapes.ts";
import { type ControlContext, endpoint } from "./control-context.ts";
import { LearnerShape } from "./lessons.ts";
import { boardPage } from "./pages/board-page.ts";
import { joinPage } from "./pages/join-page.ts";
import { enter, forEverybody, RoomShape, roomOf } from "./workshop.ts";

const BoardShape = Type.Object(
  {
    object: oneOf(["list"], "Always `list`"),
    url: nullable(Type.String({ description: "Where attendees join; null where no room is open" })),
    data: Type.Array(LearnerShape, { description: "In the order in which they joined; without hints, which may have keys in them" }),
  },
  { title: "board" },
);

const asPage = Type.Object({
  format: Type.Optional(oneOf(["html", "json"], "`json` for the data; a page unless given", { default: "html" })),
});
const documents = { html: "text/html" };

type Here = Pick<ControlContext, "roomCode" | "about" | "lessons">;

async function boardOf(here: Here) {
  const code = here.roomCode.code();
  const data = (await here.lessons.board()).map(forEverybody);
  return { object: "list" as const, url: code === undefined ? null : roomOf(here, code).url, data };
}

const board = async (here: Here, format: string | undefined) => (format === "json" ? await boardOf(here) : boardPage());

export const showBoard = endpoint({
  id: "lessons.board",
  area: "Lessons",
  method: "GET",
  path: "/board",
  summary: "The board as a page that keeps itself up to date",
  description: "One file without anything from elsewhere. In a room, open it at the room's address: there it needs no control token.",
  query: asPage,
  reply: BoardShape,
  documents,
  errors: ["validation_failed"],
  handle: ({ query, ...here }) => board(here, query.format),
});

export const showBoardInRoom = endpoint({
  id: "room.board_page",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}/board",
  summary: "The same page, for whoever knows the room",
  query: asPage,
  reply: BoardShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query, ...here }) {
    enter(here, params.room);
    return board(here, query.format);
  },
});

export const showDoor = endpoint({
  id: "room.door",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}/join",
  summary: "A page by which a browser joins the room, and reads the steps",
  query: asPage,
  reply: RoomShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  handle({ params, query, ...here }) {
    enter(here, params.room);
    return query.format === "json" ? roomOf(here, params.room) : joinPage();
  },
});
