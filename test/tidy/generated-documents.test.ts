import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { ERROR_CODES } from "../../src/errors/codes.ts";
import { ROOT, textOf } from "./tree.ts";

it("the generated documents say what the code says", () => {
  const { stderr, status } = spawnSync(process.execPath, ["scripts/generate-docs.js", "--check"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
});

it("docs/errors.md explains every code", () => {
  const text = textOf("docs/errors.md");
  expect(Object.keys(ERROR_CODES).filter((code) => !text.includes(`| \`${code}\` |`))).toEqual([]);
});
