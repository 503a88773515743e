// The page for coding agents: what the sandbox is for, the commands to use, and what never to do.

import { readFileSync } from "node:fs";
import { catalogue, resources } from "../areas/index.ts";
import { actions } from "../faults/rule-schema.ts";
import { rules } from "../judge/rules/index.ts";
import { exitCodes, exitMeanings } from "../kernel/errors.ts";
import { grouped } from "../kernel/grouped.ts";
import { once } from "../kernel/once.ts";
import { kebab } from "../kernel/text.ts";
import { packageFile } from "./package-files.ts";

/** The generated text of each placeholder in the page. */
const parts: Readonly<Record<string, () => string>> = {
  operations: () =>
    [...grouped(catalogue, ({ area }) => area)]
      .map(
        ([area, operations]) =>
          `- ${area}: ${operations.map(({ id, method, path }) => `${method} ${path} (${id})`).join(", ")}`,
      )
      .join("\n"),
  kinds: () => resources.flatMap(({ kind }) => (kind === "merchant" ? [] : [kebab(kind)])).join(", "),
  faults: () => actions.map(({ type }) => kebab(type)).join(", "),
  rules: () => rules.map(({ id, demands }) => `- ${id}: ${demands}`).join("\n"),
  exitCodes: () =>
    Object.entries(exitCodes)
      .map(([name, code]) => `${code} ${exitMeanings[name as keyof typeof exitCodes]}`)
      .join(", "),
};

export const skillPage = once(() =>
  readFileSync(packageFile("fixtures/skill.md"), "utf8").replaceAll(
    /\{\{(\w+)\}\}/g,
    (_, name: string) => parts[name]?.() ?? "",
  ),
);
