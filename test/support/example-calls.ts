// The example call of every operation, made for real.

import { exampleCalls } from "../../src/sandbox/documents.ts";
import { type Answer, open } from "./sandbox.ts";

/** The bodies of the events that the example calls emit, each call in a sandbox of its own. */
export async function exampleEvents(): Promise<Answer["body"][]> {
  const bodies: Answer["body"][] = [];
  for (const { id, method, path, headers, body } of exampleCalls()) {
    // A test event has the type and the data that its caller chose.
    if (id === "events.test") continue;
    const sandbox = await open();
    await sandbox.call(method, `/v1${path}`, { key: null, headers, body, contentType: null });
    const { data } = await sandbox.control("GET", "/events?limit=100");
    bodies.push(...data.map((event: Answer["body"]) => event.body));
    await sandbox.close();
  }
  return bodies;
}

/** What each example call is answered, each in a world of its own; fails where one does not succeed. */
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
