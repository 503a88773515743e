// Runs the example call of every operation.

import { exampleCalls } from "../../scripts/docs/pages.ts";
import { type Answer, open } from "./sandbox.ts";

/** The bodies of the events that the example calls emit. Each call runs in its own sandbox. */
export async function exampleEvents(): Promise<Answer["body"][]> {
  const bodies: Answer["body"][] = [];
  for (const { id, method, path, headers, body } of exampleCalls()) {
    // The caller chooses the type and data of a test event.
    if (id === "events.test") continue;
    const sandbox = await open();
    await sandbox.call(method, `/v1${path}`, { key: null, headers, body, contentType: null });
    const { data } = await sandbox.control("GET", "/events?limit=100");
    bodies.push(...data.map((event: Answer["body"]) => event.body));
    await sandbox.close();
  }
  return bodies;
}

/** The responses to the example calls. Each call runs in its own sandbox. Throws if a call fails. */
export async function exampleReplies(): Promise<Record<string, unknown>> {
  const replies: Record<string, unknown> = {};
  for (const { id, after } of exampleCalls()) {
    const sandbox = await open();
    for (const name of after === undefined ? [id] : [after, id]) {
      const call = exampleCalls(replies).find((found) => found.id === name);
      if (!call) throw new Error(`no example of ${name}`);
      const answer = await sandbox.call(call.method, `/v1${call.path}`, { ...call, key: null, contentType: null });
      if (answer.status >= 300) throw new Error(`${name} answered ${answer.status}: ${answer.text}`);
      replies[name] = answer.body;
    }
    await sandbox.close();
  }
  return replies;
}
