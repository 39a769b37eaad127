/**
 * Flips bits and cuts files of a folder that was killed in the middle of its work, each damage on a fresh copy, and reads
 * everything: the damage is a typed error or is counted, or every answer stays exact; no row answers for another, nothing
 * is written over a folder that is refused, and the process lives.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifyFolder } from "holdfast";
import { openFolder } from "./folder.js";
import { compare, observe, searchFaults } from "./observe.js";
import { ACTOR } from "./recorded-run.js";

const SEARCHED = 0.3;
const PAGE_BYTES = 16_384;
const WAL_HEAD_BYTES = 32;
const FRAME_HEAD_BYTES = 24;

/** By the file's class and the part of it: where a damage may lie. */
const PLACES = {
  "database header": { file: "holdfast.db", at: (random) => random.below(100) },
  "page header": { file: "holdfast.db", at: (random, bytes) => pageOf(random, bytes) + random.below(12) },
  "cell pointers": { file: "holdfast.db", at: (random, bytes) => pageOf(random, bytes) + 8 + random.below(64) },
  "page content": { file: "holdfast.db", at: (random, bytes) => random.below(bytes) },
  "log header": { file: "holdfast.db-wal", at: (random) => random.below(WAL_HEAD_BYTES) },
  "frame header": {
    file: "holdfast.db-wal",
    at: (random, bytes) => frameOf(random, bytes) + random.below(FRAME_HEAD_BYTES),
  },
  "frame content": { file: "holdfast.db-wal", at: (random, bytes) => random.below(bytes) },
  "shared memory": { file: "holdfast.db-shm", at: (random, bytes) => random.below(bytes) },
};

const pageOf = (random, bytes) => random.below(Math.floor(bytes / PAGE_BYTES)) * PAGE_BYTES;
const frameOf = (random, bytes) =>
  WAL_HEAD_BYTES + random.below(Math.floor(bytes / (PAGE_BYTES + FRAME_HEAD_BYTES))) * (PAGE_BYTES + FRAME_HEAD_BYTES);

export const DAMAGES = Object.keys(PLACES).flatMap((place) => [`bit in ${place}`, `file cut in ${place}`]);

/**
 * One damage of the kind `name` on a copy of `files` (contents by name). `models` are what was acknowledged, newest last.
 * Answers what became of it, and the faults; `undefined` where there is no such file.
 */
export async function damageOnce(name, { files, models, root, random }) {
  const { file, at } = PLACES[name.replace(/^(?:bit|file cut) in /, "")];
  if (!files.has(file)) return undefined;
  const content = Buffer.from(files.get(file));
  const offset = at(random, content.length);
  const bit = random.below(8);
  const damaged = name.startsWith("bit") ? flipped(content, offset, bit) : content.subarray(0, offset);
  const path = join(root, "kept.holdfast");
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  for (const [other, bytes] of files) writeFileSync(join(path, other), other === file ? damaged : bytes);
  const { outcome, faults } = await outcomeOf(path, { files, models, random, file });
  return { outcome, faults: faults.map((fault) => `${name} (${file} at ${offset}, bit ${bit}): ${fault}`) };
}

async function outcomeOf(path, { files, models, random, file }) {
  const before = digestOf(path);
  let folder;
  try {
    folder = await openFolder(path, { threads: "inline" });
  } catch (error) {
    if (!isTyped(error)) return { outcome: "fault", faults: [`open: ${error.stack}`] };
    // What is refused stays what it is. Only of a database of ours that is damaged SQLite moves the log into the file.
    const same = before === digestOf(path) || (error.code === "DAMAGED" && files.has("holdfast.db-wal"));
    return { outcome: `refused: ${error.code}`, faults: same ? [] : [`${error.code}, and the files changed`] };
  }
  const read = await readAll(folder, { models, random, file })
    .catch((error) =>
      isTyped(error) ? { outcome: `raised: ${error.code}`, faults: [] } : { outcome: "fault", faults: [error.stack] },
    )
    .finally(() => folder.close().catch(() => undefined));
  if (!read.missing) return read;
  const { ok } = await verifyFolder(path, { threads: "inline" });
  return ok ? { outcome: "missing", faults: ["something is missing, and verify finds nothing"] } : read;
}

async function readAll(folder, { models, random, file }) {
  const seen = await observe(folder, ACTOR);
  const searched = await searchFaults(folder, seen.model, random, SEARCHED);
  const told = [...seen.faults, ...searched];
  // SQLite takes a log's first damaged frame for its end: what is there then is what was there once, whole.
  if (file.endsWith("-wal")) {
    const whole = told.length === 0 && models.some((model) => compare(seen.model, model).length === 0);
    const newest = whole && compare(seen.model, models.at(-1)).length === 0;
    return { outcome: newest ? "exact" : "an earlier state", faults: whole ? [] : ["no state that ever was", ...told] };
  }
  const unequal = compare(seen.model, models.at(-1));
  const faults = [
    ...unequal.filter(({ kind }) => kind !== "lost").map((fault) => `${fault.kind}: ${JSON.stringify(fault)}`),
    ...searched.filter((fault) => / answers for | is answered /.test(fault)),
  ];
  const exact = unequal.length + told.length === 0;
  return { outcome: exact ? "exact" : "missing", missing: !exact, faults };
}

const isTyped = ({ code }) => typeof code === "string" && code !== "BUG";

function flipped(content, offset, bit) {
  content[offset] ^= 1 << bit;
  return content;
}

/** Of what the files hold: an empty log and its index, which a reader leaves, hold nothing. */
function digestOf(path) {
  const hash = createHash("sha256");
  for (const name of readdirSync(path).sort()) {
    const content = readFileSync(join(path, name));
    if (!name.endsWith("-shm") && content.length > 0) hash.update(name).update(content);
  }
  return hash.digest("hex");
}
