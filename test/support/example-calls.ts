// The example call of every operation, made for real.

import { exampleCalls } from "../../src/sandbox/documents.ts";
import { open } from "./sandbox.ts";

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
