import { readFileSync } from "node:fs";
import { join } from "node:path";
import { applyPatch, rulesOf } from "./entries.js";

/** What is wrong with the entries, before anything is run: one line a problem. */
export function problemsOf(entries, root) {
  const rules = rulesOf(readFileSync(join(root, "docs/guarantees.md"), "utf8"));
  const guarded = new Set(entries.map(({ rule }) => rule));
  const without = [...rules.keys()].filter((rule) => !guarded.has(rule));
  return [
    ...without.map((rule) => `${rule}: no entry takes its guard away`),
    ...entries.flatMap((entry) =>
      problemsOfEntry(entry, rules, root).map((problem) => `test/guards/${entry.path}: ${problem}`),
    ),
  ];
}

function problemsOfEntry({ rule, why, red, run, patches }, rules, root) {
  const problems = [];
  if (why === "") problems.push("says nothing about what it takes away");
  if (patches.length === 0) problems.push("changes nothing");
  if (rule === undefined && run === undefined) problems.push("names neither a rule nor a run");
  if (rule !== undefined) {
    if (red.length === 0) problems.push('has no "red:" test file');
    const enforcedBy = rules.get(rule);
    if (enforcedBy === undefined) problems.push(`${rule} is no rule of docs/guarantees.md`);
    for (const file of enforcedBy === undefined ? [] : red)
      if (!enforcedBy.includes(file)) problems.push(`${file} is not listed by ${rule}`);
  }
  for (const patch of patches) {
    try {
      applyPatch(patch, readFileSync(join(root, patch.file), "utf8"));
    } catch (error) {
      problems.push(error.message);
    }
  }
  return problems;
}
