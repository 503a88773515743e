// The door of a room for browsers: a name becomes a key, an address and a first command, and the page goes along with the steps.

import { livePage } from "./live-page.ts";
import { JOIN_STYLE } from "./page-style.ts";

const BODY = `
<main>
<div id="door"><h1>Join the workshop</h1><p class="soft">You get a merchant of your own, with a key and a first step.</p>
<form id="form"><label for="name">What are you called?</label><input id="name" name="name" maxlength="60" autocomplete="off" required autofocus><button>Join</button></form></div>
<p id="trouble" role="alert"></p>
<noscript><p>This page joins by a script: allow it here, or join with curl.</p></noscript>
<div id="place" hidden><h1>Welcome, <span id="called"></span></h1>
<dl><dt>Your key</dt><dd><code id="key"></code></dd><dt>The service</dt><dd><code id="address"></code></dd></dl>
<section><h2 id="title"></h2><div id="step" aria-live="polite"></div></section>
<p class="soft" id="back"></p></div>
</main>
`;

// The key stands in the fragment of the address, which no browser sends: whoever loads the page anew is where they were.
const SCRIPT = `
"use strict";
const at = (id) => document.getElementById(id);

const made = (name, text, kind = "") => {
  const element = document.createElement(name);
  element.className = kind;
  element.textContent = text;
  return element;
};

/** A paragraph of Markdown, as far as lessons use it: what stands between backticks is code. */
function paragraph(text) {
  const element = made("p", "");
  element.append(...text.split("\`").map((piece, index) => made(index % 2 === 1 ? "code" : "span", piece)));
  return element;
}

const prose = (text) => text.split(/\\n{2,}|\\n(?=[-*] )/).map(paragraph);

const blockOf = ({ kind, text }) => (kind === "prose" ? prose(text) : [made("pre", text, kind === "text" ? "out" : "")]);

function show({ learner, apiKey, baseUrl, lesson, url }) {
  const step = lesson?.steps[(learner.step ?? 0) - 1];
  at("door").hidden = true;
  at("place").hidden = false;
  at("called").textContent = learner.name;
  at("key").textContent = apiKey;
  at("address").textContent = baseUrl;
  at("title").textContent = step ? lesson.title + " " + step.number + "/" + lesson.steps.length + ": " + step.title : (learner.title ?? "") + ": over";
  const hint = learner.hint === null ? [] : prose("Hint: " + learner.hint);
  at("step").replaceChildren(...(step ? step.blocks.flatMap(blockOf) : []), ...hint);
  at("back").textContent = "Keep this page's address to come back. With the program: npx merchant-sandbox learn --join " + url;
}

const complain = (words) => {
  at("trouble").textContent = words;
};

async function ask(path, given) {
  const answer = await fetch(path, { cache: "no-store", ...given });
  const body = await answer.json();
  if (answer.ok) return body;
  throw Object.assign(new Error(body.message), { isRefusal: true });
}

async function follow(place) {
  const path = "learners/" + encodeURIComponent(place.apiKey);
  let version = place.learner.version;
  show(place);
  for (;;) {
    try {
      const next = await ask(path + "?within=20s&after=" + version);
      version = next.learner.version;
      complain("");
      show(next);
    } catch (error) {
      complain(error.isRefusal ? error.message : "The sandbox does not answer; it is asked again.");
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

async function enter(asked) {
  try {
    const place = await asked;
    complain("");
    history.replaceState(null, "", "#" + place.apiKey);
    void follow(place);
  } catch (error) {
    complain(error.isRefusal ? error.message : "The sandbox does not answer. Try again.");
  }
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const body = JSON.stringify({ name: at("name").value.trim() });
  void enter(ask(location.pathname, { method: "POST", headers: { "Content-Type": "application/json" }, body }));
});

if (location.hash.length > 1) void enter(ask("learners/" + encodeURIComponent(location.hash.slice(1))));
`;

export const joinPage = livePage({ title: "Join the workshop", style: JOIN_STYLE, script: SCRIPT, body: BODY });
