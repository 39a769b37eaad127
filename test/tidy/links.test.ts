import { dirname, join, normalize } from "node:path/posix";
import { expect, it } from "vitest";
import { filesOf, textOf } from "./tree.ts";

interface Link {
  /** `path:line`. */
  readonly place: string;
  readonly target: string;
}

it("every link of a document leads to a file that is there, and to a heading of it", () => {
  const documents = filesOf().filter((path) => path.endsWith(".md"));
  const links = documents.flatMap((path) => linksOf(path, textOf(path)));
  expect(links.length).toBeGreaterThan(100);
  expect(brokenOf(links, filesOf())).toEqual([]);
});

it("the rule finds a file that is gone and a heading that is not there", () => {
  const links = linksOf(
    "docs/x.md",
    "[a](nowhere.md) [b](../README.md#no-such-heading)\n[c](../README.md) `[d](e.md)`",
  );
  expect(brokenOf(links, filesOf())).toEqual(["docs/x.md:1 nowhere.md", "docs/x.md:1 ../README.md#no-such-heading"]);
});

/** Links within the repository; those in code are none. */
function linksOf(path: string, text: string): readonly Link[] {
  return prose(text).flatMap((line, index) =>
    [...line.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => ({ place: `${path}:${index + 1}`, target }))
      .filter(({ target }) => !/^[a-z]+:/.test(target)),
  );
}

function brokenOf(links: readonly Link[], files: readonly string[]): readonly string[] {
  return links
    .filter(({ place, target }) => {
      const [from = ""] = place.split(":");
      const [relative = "", anchor] = target.split("#");
      const path = relative === "" ? from : normalize(join(dirname(from), relative)).replace(/\/$/, "");
      if (!files.some((file) => file === path || file.startsWith(`${path}/`))) return true;
      return anchor !== undefined && !anchorsOf(path).has(anchor);
    })
    .map(({ place, target }) => `${place} ${target}`);
}

/** Anchors as they are made of headings: lower case, without punctuation, numbered where one stands again. */
function anchorsOf(path: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const line of prose(textOf(path))) {
    const [, heading] = /^#{1,6} (.*)$/.exec(line) ?? [];
    if (heading === undefined) continue;
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** The lines, those of code blocks empty, without code in them. */
function prose(text: string): readonly string[] {
  let inCode = false;
  return text.split("\n").map((line) => {
    if (/^ *```/.test(line)) inCode = !inCode;
    return inCode ? "" : line.replace(/`[^`]*`/g, "");
  });
}
