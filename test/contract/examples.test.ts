import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const FOLDER = fileURLToPath(new URL("../../examples", import.meta.url));

/** What a run shows when the example does what it says; the second run is on what the first left behind. */
const SHOWN: Readonly<Record<string, readonly [first: RegExp, again: RegExp]>> = {
  "chat-agent.js": [
    /\(nothing yet\)[\s\S]*allergic to walnuts[\s\S]*assistant: No walnuts\.\n$/,
    /assistant: No walnuts\.\n$/,
  ],
  "embedding-service.js": [
    /remembered: pending\nfound: .*spare key.* \(no-vectors\)\n.*1 embedded, 0 waiting\n.*cosine 0\.\d+ \(searched\)/,
    /remembered: embedded\n[\s\S]*\(searched\)\n$/,
  ],
  "first-memory.js": [/: 1\d new events, 0 known already/, /: 0 new events, 1\d known already/],
  "forgetting.js": [
    /would be forgotten: 2, still there: 6\n[\s\S]*olga: 2 forgotten, erasure complete\n.*: pete-address\n/,
    /: pete-address\n/,
  ],
  "own-embedder.js": [
    /down: pending\n.*spare key.*\n.*1 embedded, 0 waiting\n.*cosine 0\.\d+ \(searched\)/,
    /\(searched\)\n$/,
  ],
  "reimport.js": [
    /first folder: (\d+) new\nsecond folder: \1 new, \1 in all\n/,
    /first folder: 0 new\nsecond folder: 0 new, 1\d in all\n/,
  ],
  "tenants.js": [
    /^acme: Our contract ends in March\.\nglobex: Our contract ends in October\.\ninitech: NOT_FOUND\nglobex deleted: true; left: acme, default\n$/,
    /^acme: Our contract ends in March\.\nglobex: Our contract ends in October\.\n/,
  ],
};

it("each example is run here", () => {
  expect(Object.keys(SHOWN)).toEqual(
    readdirSync(FOLDER)
      .filter((name) => name.endsWith(".js"))
      .sort(),
  );
});

it.each(Object.entries(SHOWN))("%s shows what it says, and again on what it left behind", (name, shown) => {
  const cwd = mkdtempSync(join(tmpdir(), "holdfast-example-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  for (const expected of shown)
    expect(execFileSync(process.execPath, [join(FOLDER, name), "--once"], { cwd, encoding: "utf8" })).toMatch(expected);
});
