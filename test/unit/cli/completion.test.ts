import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bed } from "./command-bed.ts";

/** What bash would offer behind these words, by the script itself in a real bash. */
async function offers(words: readonly string[]): Promise<readonly string[]> {
  const { folder, cli } = bed();
  mkdirSync(join(folder, "a folder"));
  const { out: script } = await cli("completion", "bash");
  const run = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync("bash", ["-eu", "-c", run, "bash", "holdfast", ...words], { cwd: folder, encoding: "utf8" });
  return out.split("\n").filter(Boolean);
}

it("bash completes the program's own commands and options", async () => {
  const { cli } = bed();
  const { out: help } = await cli("--help");
  const commands = [...help.matchAll(/^ {2}([a-z][a-z-]*)\b.* {2}\S/gm)].map(([, name]) => name);
  expect(commands.length).toBeGreaterThan(10);
  expect(await offers([""])).toEqual(expect.arrayContaining(commands));
  expect(await offers(["re"])).toEqual(commands.filter((name) => name?.startsWith("re")));
  expect(await offers(["recall", "--s"])).toEqual(["--session"]);
  for (const command of commands.filter((name) => name !== "help")) {
    const { out } = await cli(command ?? "", "--help");
    const options = [...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag]) => flag);
    expect([command, await offers([command ?? "", "-"])]).toEqual([command, expect.arrayContaining(options)]);
  }
});

it("bash completes folders behind --path, names of files for import, shells for completion, nothing behind a text", async () => {
  expect(await offers(["recall", "--path", "a"])).toEqual(["a folder"]);
  expect(await offers(["import", "a"])).toEqual(["a folder"]);
  expect(await offers(["completion", ""])).toEqual(["bash", "zsh", "fish"]);
  expect(await offers(["recall", "--session", "--"])).toEqual([]);
  expect(await offers(["nonsense", ""])).toEqual([]);
});

it("zsh and fish get every command and option, quoted", async () => {
  const { cli } = bed();
  const [zsh, fish] = [(await cli("completion", "zsh")).out, (await cli("completion", "fish")).out];
  for (const word of ["remember", "export", "dry-run", "tenant"]) {
    expect(zsh).toContain(word);
    expect(fish).toContain(word);
  }
  // Both quote as sh does, but for the escaped quotes within: an odd number would swallow what follows.
  expect((zsh.replaceAll("'\\''", "").match(/'/g) ?? []).length % 2).toBe(0);
  expect((fish.replaceAll("\\'", "").match(/'/g) ?? []).length % 2).toBe(0);
  expect((await cli("completion", "tcsh")).code).toBe(2);
});
