import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Connection } from "../../../src/database/connection.ts";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import { compactTextIndex, unindexSegment } from "../../../src/segments/sqlite/text-index.ts";
import { TextIndexBed } from "./text-index-bed.ts";

/** Which of the words are in the bytes of the folder's files. In a process of its own, which never opened them. */
const FIND = `
const { readdirSync, readFileSync } = require("node:fs");
const [folder, words] = [process.argv[1], JSON.parse(process.argv[2])];
const bytes = readdirSync(folder).map((name) => readFileSync(folder + "/" + name, "latin1")).join("");
process.stdout.write(JSON.stringify(words.filter((word) => bytes.includes(word))));`;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "text-index-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function inBytes(words: readonly string[]): readonly string[] {
  const found = execFileSync(process.execPath, ["-e", FIND, folder, JSON.stringify(words)], { encoding: "utf8" });
  return JSON.parse(found) as readonly string[];
}

/** Words without common beginnings: FTS5 writes only what a term does not share with the one before. */
function secretWords(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => {
    const mixed = Math.imul(i + 1, 2_654_435_761) >>> 0;
    return `${mixed.toString(36).padStart(7, "q").replaceAll("z", "y")}zq${i.toString(36)}zq`;
  });
}

/** Closing checkpoints, and removes the log. */
function closed(work: (bed: TextIndexBed) => void): void {
  const bed = new TextIndexBed(join(folder, "text.db"));
  work(bed);
  bed.connection.close();
}

function reopened(): Connection {
  const connection = openConnection(join(folder, "text.db"), { readOnly: false, mustExist: true });
  connection.exec("PRAGMA secure_delete = ON");
  return connection;
}

function unindexAndDelete(connection: Connection, segment: number, tokenString: string): void {
  unindexSegment(connection, { segment, tokenString });
  connection.prepare("DELETE FROM segments WHERE segment = ?").run(segment);
}

describe("erasing from the text index", () => {
  it("[E14] removes a word from the bytes of the file", () => {
    closed((bed) => {
      for (let i = 0; i < 50; i++) bed.add(1, ["common", `kept${i}`]);
      bed.add(1, ["common", "xylophonist"]);
    });
    expect(inBytes(["xylophonist", "common"])).toEqual(["xylophonist", "common"]);
    const bed = reopened();
    const row = bed.prepare("SELECT segment, token_string FROM segments ORDER BY segment DESC LIMIT 1").get();
    unindexAndDelete(bed, Number(row?.segment), String(row?.token_string));
    bed.close();
    expect(inBytes(["xylophonist", "common"])).toEqual(["common"]);
  });

  it("[E14] removes thousands of words, over many pages and merges, and leaves the others", () => {
    const words = secretWords(6000);
    const tails = words.map((word) => word.slice(7));
    closed((bed) => {
      for (let at = 0; at < words.length; at += 500) {
        bed.inOneCommit(() => {
          for (let i = at; i < at + 500; i += 5) bed.add(1 + (i % 3), words.slice(i, i + 5));
        });
      }
    });
    expect(inBytes(tails)).toEqual(tails);
    const bed = reopened();
    bed.exec("BEGIN IMMEDIATE");
    for (const row of bed.prepare("SELECT segment, token_string FROM segments WHERE segment % 2 = 0").all())
      unindexAndDelete(bed, Number(row.segment), String(row.token_string));
    bed.exec("COMMIT");
    bed.close();
    expect(inBytes(tails)).toEqual(tails.filter((_, i) => Math.floor(i / 5) % 2 === 0));
  });

  it("[E14] leaves not even a beginning of a removed word once it is compacted", () => {
    const bed = new TextIndexBed();
    const words = secretWords(6000);
    bed.inOneCommit(() => {
      for (const word of words) bed.add(1, [word]);
    });
    for (const segment of [...bed.held.keys()]) if (segment % 2 === 0) bed.remove(segment);
    expect(beginningsWithoutWord(bed)).not.toEqual([]);
    bed.inOneCommit(() => compactTextIndex(bed.connection));
    expect(beginningsWithoutWord(bed)).toEqual([]);
    expect(bed.search(1, [words[0] ?? ""])).toHaveLength(1);
  });
});

/** Of the beginnings of words that FTS5 keeps to find its pages (each behind a "0"), those that no word has. */
function beginningsWithoutWord(bed: TextIndexBed): readonly string[] {
  const terms = bed.terms();
  const rows = bed.connection.prepare("SELECT CAST(term AS TEXT) AS term FROM segment_words_idx").all();
  const beginnings = rows.map(({ term }) => String(term).slice(1));
  return beginnings.filter((beginning) => !terms.some((term) => term.startsWith(beginning)));
}
