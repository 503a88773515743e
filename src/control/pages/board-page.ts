// The board for a projector: who is where, asked anew every two seconds.

import { livePage } from "./live-page.ts";
import { BOARD_STYLE } from "./page-style.ts";

const BODY = `
<header><h1>Who is where</h1><p class="door" id="door" hidden>Join at <code id="address"></code></p><p class="counts" id="counts" aria-live="polite"></p></header>
<p class="trouble" id="trouble" role="alert" hidden></p>
<noscript><p class="trouble">This page asks for the board by a script: allow it here.</p></noscript>
<p class="empty" id="empty" hidden>Nobody is here yet.</p>
<ol id="learners"></ol>
`;

// Each card is made anew: whatever somebody is called is put in as text.
const SCRIPT = `
"use strict";
const POLL = 2000;
const FRESH = 10000;
const at = (id) => document.getElementById(id);
const ticked = new Map();
let board;
let heardAt = 0;

const made = (name, kind, text, parts = []) => {
  const element = document.createElement(name);
  element.className = kind;
  if (text !== undefined) element.textContent = text;
  element.append(...parts);
  return element;
};

const spanOf = (milliseconds) => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return seconds + " s";
  return minutes < 60 ? minutes + " min" : Math.floor(minutes / 60) + " h " + (minutes % 60) + " min";
};

const isOver = ({ lesson, step }) => lesson !== null && step === null;

function stepsOf({ lesson, step, steps, left }) {
  const how = new Map(left.filter((one) => one.lesson === lesson).map((one) => [one.step, one.how]));
  return Array.from({ length: steps }, (_, index) => {
    const was = how.get(index + 1);
    return made("i", index + 1 === step ? "now" : was === "ticked" ? "ticked" : was ? "passed" : "");
  });
}

/** One word for what is to be seen from afar. */
function wordOf(learner, longest) {
  if (isOver(learner)) return ["done", "done"];
  const known = ticked.get(learner.id);
  if (known && performance.now() - known.at < FRESH) return ["fresh", "just ticked"];
  return learner.id === longest ? ["longest", "longest"] : ["", ""];
}

function cardOf(learner, longest) {
  const { name, title, step, steps, stepTitle, hints } = learner;
  const [kind, word] = wordOf(learner, longest);
  const place = title === null ? "" : isOver(learner) ? learner.ticked + "/" + steps : step + "/" + steps;
  const hinted = hints === 0 ? "" : hints === 1 ? "1 hint" : hints + " hints";
  const since = step === null ? "" : spanOf(learner.elapsed + performance.now() - heardAt);
  const called = made("span", "name", name);
  called.dir = "auto";
  called.title = name;
  const what = title === null ? "no lesson yet" : stepTitle === null ? title : title + ": " + stepTitle;
  const small = [made("span", "what", what), made("span", "since", [hinted, since].filter(Boolean).join(", "))];
  if (word) small.push(made("span", "word", word));
  return made("li", kind, undefined, [
    made("div", "row", undefined, [called, made("span", "place", place)]),
    made("div", "steps", undefined, stepsOf(learner)),
    made("div", "row small", undefined, small),
  ]);
}

function note(learners) {
  for (const { id, left } of learners) {
    const count = left.filter((one) => one.how === "ticked").length;
    const known = ticked.get(id);
    if (!known) ticked.set(id, { count, at: -FRESH });
    else if (count !== known.count) ticked.set(id, { count, at: count > known.count ? performance.now() : -FRESH });
  }
}

function show() {
  if (!board) return;
  const { data, url } = board;
  const busy = data.filter(({ step }) => step !== null).sort((one, other) => other.elapsed - one.elapsed);
  const longest = busy.length > 1 ? busy[0].id : undefined;
  const done = data.filter(isOver).length;
  at("learners").replaceChildren(...data.map((learner) => cardOf(learner, longest)));
  at("empty").hidden = data.length > 0;
  at("door").hidden = url === null;
  at("address").textContent = url === null ? "" : url + "/join";
  const counts = data.length === 0 ? "" : data.length + " here" + (done > 0 ? ", " + done + " done" : "");
  if (at("counts").textContent !== counts) at("counts").textContent = counts;
  document.body.className = data.length <= 6 ? "few" : data.length <= 18 ? "some" : "many";
}

const complain = (words) => {
  at("trouble").hidden = words === "";
  at("trouble").textContent = words;
};

async function ask() {
  try {
    const answer = await fetch(location.pathname + "?format=json", { cache: "no-store" });
    const body = await answer.json();
    if (answer.ok) {
      board = body;
      heardAt = performance.now();
      note(body.data);
      complain("");
    } else complain(answer.status === 404 ? "The room is closed." : body.message);
  } catch {
    complain("The sandbox does not answer" + (board ? ": what is shown is " + spanOf(performance.now() - heardAt) + " old." : "."));
  }
  show();
  setTimeout(ask, POLL);
}

ask();
`;

export const boardPage = livePage({ title: "Who is where", style: BOARD_STYLE, script: SCRIPT, body: BODY });
