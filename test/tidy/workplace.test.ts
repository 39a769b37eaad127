import { describe, expect, it } from "vitest";
import { type Finding, filesOf, textOf } from "./tree.ts";

/** What holds on one machine only: absolute paths of people and build hosts, addresses of package registries. */
const LOCAL: readonly RegExp[] = [
  /(?<![\w.~*)\]])\/(?:work|home|root|Users|farm|private\/tmp)\/\w/,
  /\bC:\\Users\\/i,
  /https?:\/\/(?:[\w.-]*registry[\w.-]*|localhost:4873|[\w.-]*(?:verdaccio|artifactory|nexus)[\w.-]*)/i,
  /\b_(?:authToken|password)\b/,
];

const SKIPPED = /\.(?:wasm|gz|sqlite|png|svg|holdfast|bin)$/;

describe("tracked files", () => {
  it("speak of no single machine", () => {
    expect(filesOf().flatMap((path) => (SKIPPED.test(path) ? [] : localWords(path, textOf(path))))).toEqual([]);
  });

  it("are named when they do", () => {
    const [folder, host] = ["work", "registry"].map((word) => `/${word}`);
    expect(localWords("a.md", `see ${folder}/main`)).toEqual([`a.md:1 see ${folder}/main`]);
    expect(localWords("a.md", `\nhttps:/${host}.example.org/x`)).toHaveLength(1);
    expect(localWords("a.md", `test${folder}/a.ts, node:worker_threads, ./home/x`)).toEqual([]);
  });
});

function localWords(path: string, text: string): readonly Finding[] {
  return text.split("\n").flatMap((line, index) => {
    return LOCAL.some((pattern) => pattern.test(line)) ? [`${path}:${index + 1} ${line.trim().slice(0, 120)}`] : [];
  });
}
