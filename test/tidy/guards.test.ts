import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ROOT } from "./tree.ts";

/** The entries are looked at, not run: `npm run guards` does that, in minutes. */
function check(...options: readonly string[]): { readonly status: number | null; readonly problems: string } {
  const script = join(ROOT, "scripts/guards.js");
  const { status, stderr } = spawnSync(process.execPath, [script, "--check", ...options], { encoding: "utf8" });
  return { status, problems: stderr };
}

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-guards-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe("guards", () => {
  it("[T6] every rule has an entry that takes its guard away, and every patch still applies", () => {
    expect(check()).toEqual({ status: 0, problems: "" });
  });

  it("[T6] an entry that would prove nothing is named", () => {
    const red = "red: src/testkit/suites/records.ts\n";
    const folder = folderOf({
      "V1.diff": `What.\n${red}\n--- src/store/batch.ts\n-    this line is gone\n`,
      "V2.diff": `What.\n${red}\n--- src/store/batch.ts\n }\n+// more\n`,
      "V3.diff": `${red}\n`,
      "Z9.diff": "What.\n\n--- src/nowhere.ts\n-a\n",
      "named-for-nothing.diff": "What.\n\n--- src/store/batch.ts\n-import nothing;\n",
    });
    const { status, problems } = check("--folder", folder);
    expect(status).toBe(1);
    for (const problem of [
      "V4: no entry takes its guard away",
      "V1.diff: src/store/batch.ts has these lines 0 times",
      "V2.diff: src/testkit/suites/records.ts is not listed by V2",
      "V3.diff: says nothing about what it takes away",
      "V3.diff: changes nothing",
      'Z9.diff: has no "red:" test file',
      "Z9.diff: Z9 is no rule of docs/guarantees.md",
      "Z9.diff: ENOENT",
      "named-for-nothing.diff: names neither a rule nor a run",
    ])
      expect(problems).toContain(problem);
    expect(problems).toMatch(/V2\.diff: src\/store\/batch\.ts has these lines \d\d? times/);
  });
});
