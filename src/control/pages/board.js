// The board in the browser: loads the learners every two seconds and renders one card for each.

const POLL_INTERVAL = 2_000;
const HIGHLIGHT_FOR = 10_000;

const byId = (id) => document.getElementById(id);

/** Per learner: the number of completed steps, and when it last grew. */
const completions = new Map();
let board;
let loadedAt = 0;

/** Inserts text only as text, never as markup, because learners choose their own names. */
const element = (tag, className, text, children = []) => {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
};

const formatDuration = (milliseconds) => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

const isDone = ({ lesson, step }) => lesson !== null && step === null;

function stepBars({ lesson, step, steps, finishedSteps }) {
  const outcomes = new Map(finishedSteps.filter((past) => past.lesson === lesson).map((past) => [past.step, past.how]));
  return Array.from({ length: steps }, (_, index) => {
    const outcome = outcomes.get(index + 1);
    if (index + 1 === step) return element("i", "now");
    return element("i", outcome === undefined || outcome === "completed" ? (outcome ?? "") : "passed");
  });
}

/** The class of a card, the word on it, and the colour of the word. */
function highlightOf(learner, longestId) {
  if (isDone(learner)) return ["done", "done", "green"];
  const known = completions.get(learner.id);
  if (known && performance.now() - known.at < HIGHLIGHT_FOR) return ["fresh", "just completed", "green"];
  return learner.id === longestId ? ["longest", "longest on a step", "yellow"] : [];
}

function cardOf(learner, longestId) {
  const { name, title, step, steps, stepTitle, hints, completed, elapsed } = learner;
  const [className = "", word, tone] = highlightOf(learner, longestId);
  const place = title === null ? "" : `${isDone(learner) ? completed : step}/${steps}`;
  const hintCount = hints === 0 ? "" : hints === 1 ? "1 hint" : `${hints} hints`;
  const since = step === null ? "" : formatDuration(elapsed + performance.now() - loadedAt);
  const nameElement = element("span", "name", name);
  nameElement.dir = "auto";
  nameElement.title = name;
  const what = title === null ? "no lesson yet" : stepTitle === null ? title : `${title}: ${stepTitle}`;
  const details = [
    element("span", "what soft", what),
    element("span", "soft", [hintCount, since].filter(Boolean).join(", ")),
  ];
  if (word) details.push(element("span", `chip ${tone}`, word));
  return element("li", className, undefined, [
    element("div", "row large", undefined, [nameElement, element("span", "place", place)]),
    element("div", "steps", undefined, stepBars(learner)),
    element("div", "row small", undefined, details),
  ]);
}

/** Records new completions. Steps completed before the page first saw a learner are not highlighted. */
function recordCompletions(learners) {
  for (const { id, finishedSteps } of learners) {
    const count = finishedSteps.filter((past) => past.how === "completed").length;
    const known = completions.get(id);
    if (count !== known?.count)
      completions.set(id, { count, at: known && count > known.count ? performance.now() : -HIGHLIGHT_FOR });
  }
}

function render() {
  if (!board) return;
  const { data, url } = board;
  const busy = data.filter(({ step }) => step !== null).sort((one, other) => other.elapsed - one.elapsed);
  const longestId = busy.length > 1 ? busy[0].id : undefined;
  const done = data.filter(isDone).length;
  byId("learners").replaceChildren(...data.map((learner) => cardOf(learner, longestId)));
  byId("empty").hidden = data.length > 0;
  byId("address").textContent = `${url}/join`;
  const counts = data.length === 0 ? "" : `${data.length} here${done > 0 ? `, ${done} done` : ""}`;
  // Set only when the text changes, because a screen reader announces each update.
  if (byId("counts").textContent !== counts) byId("counts").textContent = counts;
  document.body.className = data.length <= 6 ? "few" : data.length <= 18 ? "some" : "many";
}

const showError = (message) => {
  byId("error").hidden = message === "";
  byId("error").textContent = message;
};

/** The board as the sandbox shows it, or what the reader is told instead. */
async function fetchBoard() {
  try {
    const response = await fetch(`${location.pathname}?format=json`, { cache: "no-store" });
    const body = await response.json();
    if (response.ok) return { body };
    return { error: response.status === 404 ? "The room is closed." : body.message };
  } catch {
    const age = board ? `: what is shown is ${formatDuration(performance.now() - loadedAt)} old.` : ".";
    return { error: `The sandbox does not answer${age}` };
  }
}

async function load() {
  const { body, error = "" } = await fetchBoard();
  setTimeout(load, POLL_INTERVAL);
  if (body) {
    board = body;
    loadedAt = performance.now();
    recordCompletions(body.data);
  }
  showError(error);
  render();
}

void load();
