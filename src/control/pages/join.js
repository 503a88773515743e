// The join page in the browser: joins under a name, then opens the learner's page.

const byId = (id) => document.getElementById(id);

/** Opens the learner's page. Browsers never send the fragment, so the key stays in this browser. */
const openPlace = (key) => location.assign(`/_sandbox/ui#learner/${encodeURIComponent(key)}`);

/** Resolves with the reply. An error reply throws an error with `isRefusal` set. */
async function call(path, options) {
  const response = await fetch(path, { cache: "no-store", ...options });
  const body = await response.json();
  if (response.ok) return body;
  throw Object.assign(new Error(body.message), { isRefusal: true });
}

byId("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = JSON.stringify({ name: byId("name").value.trim() });
  try {
    const { apiKey } = await call(location.pathname, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    openPlace(apiKey);
  } catch (error) {
    byId("error").textContent = error.isRefusal ? error.message : "The sandbox does not answer. Try again.";
  }
});

byId("name").focus();
