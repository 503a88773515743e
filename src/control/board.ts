// The control operations that serve the board and the join page, as HTML or JSON.

import { ShownLearner } from "../contracts/lesson.ts";
import { nullable, oneOf, Type } from "../schema/shapes.ts";
import { type ControlContext, endpoint } from "./control-context.ts";
import { boardPage } from "./pages/board-page.ts";
import { joinPage } from "./pages/join-page.ts";
import { RoomShape, requireRoom, roomReply, withoutHint } from "./workshop.ts";

const BoardShape = Type.Object(
  {
    object: oneOf(["list"], "Always `list`"),
    url: nullable(Type.String({ description: "The URL at which participants join; null if no room is open" })),
    data: Type.Array(ShownLearner, {
      description: "The learners, in the order in which they joined; without hints, because they may contain API keys",
    }),
  },
  { title: "board" },
);

const pageFormat = Type.Object({
  format: Type.Optional(oneOf(["html", "json"], "The format of the response (default: html)", { default: "html" })),
});
const documents = { html: "text/html" };

type BoardContext = Pick<ControlContext, "roomCode" | "about" | "lessons">;

async function boardData(context: BoardContext) {
  const code = context.roomCode.code();
  const data = (await context.lessons.learners()).map(withoutHint);
  return { object: "list" as const, url: code === undefined ? null : roomReply(context, code).url, data };
}

const boardReply = async (context: BoardContext, format: string | undefined) =>
  format === "json" ? await boardData(context) : boardPage();

export const showBoard = endpoint({
  id: "lessons.board",
  area: "Lessons",
  method: "GET",
  path: "/board",
  summary: "Get the board as a page that updates itself",
  description: "One self-contained HTML file. While a room is open, use the board at the room's URL, which requires no control token.",
  query: pageFormat,
  reply: BoardShape,
  documents,
  errors: ["validation_failed"],
  handle: ({ query, ...context }) => boardReply(context, query.format),
});

export const showBoardInRoom = endpoint({
  id: "room.board_page",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}/board",
  summary: "Get the board of a room as a page that updates itself",
  query: pageFormat,
  reply: BoardShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  async handle({ params, query, ...context }) {
    requireRoom(context, params.room);
    return boardReply(context, query.format);
  },
});

export const showJoinPage = endpoint({
  id: "room.door",
  area: "Lessons",
  method: "GET",
  path: "/room/{room}/join",
  summary: "Get the page on which a browser joins the room and follows the lesson",
  query: pageFormat,
  reply: RoomShape,
  documents,
  errors: ["validation_failed", "resource_not_found"],
  handle({ params, query, ...context }) {
    requireRoom(context, params.room);
    return query.format === "json" ? roomReply(context, params.room) : joinPage();
  },
});
