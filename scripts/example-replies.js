// The responses to the example calls, for the reference and the OpenAPI document.

/** A time at which no seeded record has expired. */
const CLOCK = "2026-01-05T09:00:00Z";

/**
 * The responses by operation id. Each example runs in a separate sandbox, so that no example shows the effects of
 * another.
 */
export async function exampleReplies(createSandbox, exampleCalls) {
  const replies = {};
  for (const { id, after } of exampleCalls()) {
    const sandbox = await createSandbox({ clock: CLOCK });
    const defects = [];
    sandbox.onDefect(({ error }) => defects.push(error));
    for (const name of after === undefined ? [id] : [after, id]) {
      const call = exampleCalls(replies).find((one) => one.id === name);
      replies[name] = await replyTo(sandbox.baseUrl, call, defects);
    }
    await sandbox.close();
  }
  return replies;
}

async function replyTo(baseUrl, { id, method, path, headers, body }, defects) {
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
  if (parameter !== undefined)
    throw new Error(`${id} needs exampleParams.${parameter}: the id of a record in fixtures/merchants/lodge.json.`);
  const response = await fetch(baseUrl + path, { method, headers, body });
  const text = await response.text();
  if (!response.ok)
    throw new Error([`The example of ${id} does not succeed: ${response.status} ${text}`, ...defects].join("\n"));
  return JSON.parse(text);
}
