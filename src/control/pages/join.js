// The join page in the browser: joins under a name, then follows the learner through the steps.

const RETRY_AFTER = 2_000;

const byId = (id) => document.getElementById(id);

const element = (tag, text, className = "") => {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
};

/** A paragraph of Markdown, as far as lessons use it: backticks enclose code. */
function paragraph(text) {
  const made = element("p", "");
  made.append(...text.split("`").map((piece, index) => element(index % 2 === 1 ? "code" : "span", piece)));
  return made;
}

const prose = (text) => text.split(/\n{2,}|\n(?=[-*] )/).map(paragraph);

const blockElements = ({ kind, text }) => (kind === "prose" ? prose(text) : [element("pre", text, kind === "text" ? "out" : "")]);

function render({ learner, apiKey, baseUrl, lesson, url }) {
  const step = lesson?.steps[(learner.step ?? 0) - 1];
  byId("join").hidden = true;
  byId("lesson").hidden = false;
  byId("learner").textContent = learner.name;
  byId("key").textContent = apiKey;
  byId("address").textContent = baseUrl;
  byId("title").textContent = step
    ? `${lesson.title} ${step.number}/${lesson.steps.length}: ${step.title}`
    : `${learner.title ?? ""}: completed`;
  const hint = learner.hint === null ? [] : prose(`Hint: ${learner.hint}`);
  byId("step").replaceChildren(...(step ? step.blocks.flatMap(blockElements) : []), ...hint);
  byId("return").textContent = `To come back, keep this page's address. In a terminal: npx merchant-sandbox learn --join ${url}`;
}

const showError = (message) => {
  byId("error").textContent = message;
};

/** Resolves with the reply; a refusal is an error that has `isRefusal`. */
async function call(path, options) {
  const response = await fetch(path, { cache: "no-store", ...options });
  const body = await response.json();
  if (response.ok) return body;
  throw Object.assign(new Error(body.message), { isRefusal: true });
}

async function follow(joined) {
  const path = `learners/${encodeURIComponent(joined.apiKey)}`;
  let { version } = joined.learner;
  render(joined);
  for (;;) {
    try {
      const current = await call(`${path}?within=20s&after=${version}`);
      ({ version } = current.learner);
      showError("");
      render(current);
    } catch (error) {
      showError(error.isRefusal ? error.message : "The sandbox does not answer. Trying again.");
      await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER));
    }
  }
}

async function enter(joining) {
  try {
    const joined = await joining;
    showError("");
    // Browsers never send the fragment, so the key stays in this browser, and a reload finds it again.
    history.replaceState(null, "", `#${joined.apiKey}`);
    void follow(joined);
  } catch (error) {
    showError(error.isRefusal ? error.message : "The sandbox does not answer. Try again.");
  }
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const body = JSON.stringify({ name: byId("name").value.trim() });
  void enter(call(location.pathname, { method: "POST", headers: { "Content-Type": "application/json" }, body }));
});

if (location.hash.length <= 1) byId("name").focus();
else void enter(call(`learners/${encodeURIComponent(location.hash.slice(1))}`));
