// A command that calls the control API of a running sandbox, and prints the reply as lines of text, or as JSON with
// --json.

import { type Arguments, type CommandDefinition, command } from "./command.ts";
import { print } from "./output/print.ts";
import { connectionFlags } from "./remote/find-sandbox.ts";
import { connectToSandbox, type RunningSandbox } from "./remote/running-sandbox.ts";

interface SandboxCommandDefinition<Reply extends object> extends Omit<CommandDefinition, "run"> {
  /** Maps API fields that are not flags to the command's names, such as `by` to `<duration>`. */
  terms?(given: Arguments): Readonly<Record<string, string>>;
  call(sandbox: RunningSandbox, given: Arguments): Promise<Reply>;
  lines(reply: Reply, given: Arguments): readonly string[];
  exitCode?(reply: Reply, given: Arguments): number;
}

export const sandboxCommand = <Reply extends object>(definition: SandboxCommandDefinition<Reply>) =>
  command({
    ...definition,
    flags: {
      ...definition.flags,
      json: { description: "print the reply as JSON; of a list, one object per line" },
      ...connectionFlags,
    },
    async run(given) {
      const sandbox = await connectToSandbox(given.flags, definition.terms?.(given));
      const reply = await definition.call(sandbox, given);
      if (given.flags.json === undefined) for (const line of definition.lines(reply, given)) print(line);
      else
        for (const one of "data" in reply && Array.isArray(reply.data) ? reply.data : [reply])
          print(JSON.stringify(one));
      return definition.exitCode?.(reply, given);
    },
  });

/** The lines of a list, or the line for an empty one. */
export const linesOf =
  <Item>(lineOf: (item: Item) => string, whenEmpty: string) =>
  ({ data }: { data: readonly Item[] }) =>
    data.length === 0 ? [whenEmpty] : data.map(lineOf);
