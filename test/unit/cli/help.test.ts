import { expect, it } from "vitest";
import { displayWidth } from "../../../src/cli/text/width.ts";
import { bed, terminal } from "./command-bed.ts";

async function commands(): Promise<readonly string[]> {
  const { out } = await bed().cli("--help");
  return [...out.matchAll(/^ {2}([a-z][a-z-]*)\b.* {2}\S/gm)].map(([, name = ""]) => name);
}

it("no line of a help text is wider than 80 columns in a pipe, and every command has examples", async () => {
  const names = await commands();
  expect(names.length).toBeGreaterThan(15);
  for (const name of ["", ...names]) {
    const { code, out } = await bed().cli(...(name === "" ? [] : [name]), "--help");
    expect([name, code, name === "help" || /\nExamples:\n {2}\$ .*holdfast /.test(out)]).toEqual([name, 0, true]);
    expect([name, out.split("\n").filter((line) => displayWidth(line) > 80)]).toEqual([name, []]);
  }
});

it("on a narrow terminal running text is wrapped, and only what is to be pasted is not", async () => {
  for (const name of await commands()) {
    const { out } = await bed(undefined, terminal(40)).cli(name, "--help");
    const wide = out.split("\n").filter((line) => displayWidth(line) > 40 && !/^ {2}(\$|\{| )/.test(line));
    expect([name, wide.filter((line) => !line.startsWith("Usage:"))]).toEqual([name, []]);
  }
});

it("on a wide terminal lines end where they can still be read", async () => {
  const { out } = await bed(undefined, terminal(250)).cli("import", "--help");
  expect(out.split("\n").filter((line) => displayWidth(line) > 100)).toEqual([]);
});
