/**
 * Guards: each file `<rule>.diff` or `<rule>-<what>.diff` takes the guard of one rule away.
 *
 *   One sentence: what the code does without its guard.
 *   red: test/unit/contract/vector.test.ts
 *
 *   --- src/contract/vector.ts
 *    a line that stays
 *   -a line that goes
 *   +a line that comes
 *   @@
 *   -another place of the same file
 *
 * The lines that stay or go are found as they are, once in the file. `red:` names test files that the rule's entry in
 * docs/guarantees.md lists; a test of each that cites the rule must fail. In `breaks/` a file is named for what it breaks,
 * and `run:` is the program, a fault lane, that must end with another code than 0.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Every entry of a folder and of its `breaks`, in the order of their names. */
export function readEntries(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".diff"))
    .sort()
    .map((name) => parseEntry(name, readFileSync(join(folder, name), "utf8")));
}

export function parseEntry(path, text) {
  const name = basename(path, ".diff");
  const [head, ...bodies] = text.split(/^--- /m);
  const valuesOf = (key) => [...head.matchAll(new RegExp(`^${key}: (.+)$`, "gm"))].map(([, value]) => value.trim());
  return {
    name,
    path,
    /** Absent in an entry that is named for what it breaks. */
    rule: /^[A-Z]\d+[a-z]?(?=-|$)/.exec(name)?.[0],
    why: head
      .split("\n")
      .filter((line) => line !== "" && !/^[a-z]+: /.test(line))
      .join(" "),
    red: valuesOf("red"),
    run: valuesOf("run")[0]?.split(" "),
    patches: bodies.map(parsePatch),
  };
}

function parsePatch(body) {
  const [file, ...lines] = body.split("\n");
  const hunks = [{ old: [], new: [] }];
  for (const line of lines) {
    if (line.startsWith("@@")) hunks.push({ old: [], new: [] });
    const [mark, rest, hunk] = [line.charAt(0), line.slice(1), hunks.at(-1)];
    if (mark === " " || mark === "-") hunk.old.push(rest);
    if (mark === " " || mark === "+") hunk.new.push(rest);
  }
  return { file: file.trim(), hunks: hunks.map((hunk) => ({ old: toLines(hunk.old), new: toLines(hunk.new) })) };
}

/** Whole lines, so that a short one is not found inside a longer one. */
function toLines(lines) {
  return lines.map((line) => `${line}\n`).join("");
}

/** The file's text without its guard; raises when the lines are not there, or more than once. */
export function applyPatch({ file, hunks }, text) {
  let patched = text;
  for (const { old, new: replacement } of hunks) {
    const places = `\n${patched}`.split(`\n${old}`).length - 1;
    if (old === "" || places !== 1) throw new Error(`${file} has these lines ${places} times:\n${old}`);
    // By index: `replace` would read `$` in the new text.
    const at = `\n${patched}`.indexOf(`\n${old}`);
    patched = patched.slice(0, at) + replacement + patched.slice(at + old.length);
  }
  if (patched === text) throw new Error(`${file} is left as it was`);
  return patched;
}

/** The rules of docs/guarantees.md, each with the test files that enforce it. */
export function rulesOf(guarantees) {
  const rules = new Map();
  for (const section of guarantees.split(/^### /m).slice(1)) {
    const id = /^[A-Z]\d+[a-z]?/.exec(section)?.[0];
    const enforcement = /^Enforced by:[\s\S]*?(?=\n\s*\n|$(?![\s\S]))/m.exec(section)?.[0] ?? "";
    if (id !== undefined)
      rules.set(
        id,
        [...enforcement.matchAll(/`([^`]+)`/g)].map(([, path]) => path),
      );
  }
  return rules;
}
