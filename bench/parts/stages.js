// The cost of each stage of the request pipeline. Most cases end the pipeline after a stage, and respond there with
// what bare node:http returns.

import { inRounds, inTurn, open, rateAndCpu, slice } from "../measure.js";
import { GET, POST, RECORD } from "../sample-record.js";
import { buildVariants } from "../variants.js";

const PIPE = "src/http/pipeline.ts";
const ANSWER = `
    (request) => {
      const context = contextOf(request);
      if (!context.isAdmitted) recorder.admitted(context);
      context.isAdmitted = true;
      context.reply = { status: 200, body: ${JSON.stringify(RECORD)} };
      context.finish(context);
    },`;

/** An edit that makes the pipeline respond before the stage whose line starts with this text. */
const before = (stage) => ({ file: PIPE, find: `\n    ${stage}`, replace: `${ANSWER}\n    ${stage}` });

const FIRST = "admit(guard";

/** The edits that make each variant. */
export const cuts = {
  nothing: [before(FIRST)],
  guard: [{ file: PIPE, find: "findCaller(context);", replace: "" }, before("faults.outage,")],
  route: [before("faults.auth,")],
  key: [before("faults.limit,")],
  limit: [before("readBody,")],
  body: [before("readIdempotencyKey,")],
  validate: [before("operate(faults.around(")],
  unnoted: [
    {
      file: "src/store/request-log/request-log.ts",
      find: "buffer.add(entry, SIZE_WITHOUT_BODIES + bodies);",
      replace: "",
    },
  ],
  whole: [],
};

const BARE_GET = "bare node:http, GET";
const BARE_POST = "bare node:http, POST";

const cases = [
  { name: BARE_GET, request: GET },
  { name: "GET: context, reply, request log, and no stage", variant: "nothing", request: GET },
  { name: "GET: + guard", variant: "guard", request: GET },
  { name: "GET: + owner of the key, route", variant: "route", request: GET },
  { name: "GET: + permission of the key", variant: "key", request: GET },
  { name: "GET: + rate limit", variant: "limit", request: GET },
  { name: "GET: + body, idempotency, validation", variant: "validate", request: GET },
  { name: "GET: + select, check of the response: all stages", variant: "whole", request: GET },
  { name: "GET: all stages, but no row in the request log", variant: "unnoted", request: GET },
  { name: BARE_POST, request: POST },
  { name: "POST: up to the rate limit", variant: "limit", request: POST },
  { name: "POST: + body", variant: "body", request: POST },
  { name: "POST: + validation", variant: "validate", request: POST },
  { name: "POST: + effect, event, commit: all stages", variant: "whole", request: POST },
  { name: "POST: all stages, but no row in the request log", variant: "unnoted", request: POST },
];

const baseOf = ({ request }) => (request === GET ? BARE_GET : BARE_POST);

export const stages = {
  name: "stages",
  rows: cases.filter(({ variant }) => variant).map((one) => rateAndCpu({ what: one.name, against: baseOf(one) })),
  async measure() {
    const files = await buildVariants(cuts);
    const openAll = async () => {
      const servers = new Map([["bare", await open("bare")]]);
      for (const [name, file] of Object.entries(files))
        servers.set(name, await open("variant", { words: [file, "file"] }));
      return servers;
    };
    return inRounds(openAll, (servers, turns) =>
      inTurn(cases, ({ variant = "bare", request }) => slice(servers.get(variant), request), turns),
    );
  },
};
