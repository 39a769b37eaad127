/**
 * Kills a writing process with SIGKILL, again and again on one folder, and checks after each kill that every
 * acknowledged write is there, that the one under way is there whole or not at all, that each record is its own
 * nearest neighbour and that none answers for another.
 *
 *   node scripts/kill-writer.js [--rounds 50] [--seed 1] [--path ./kept.holdfast]
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openStore } from "holdfast";
import { SeededRandom } from "holdfast/testkit";
import { keptVector } from "../test/doubles/children/kept-vector.js";

const WRITER = fileURLToPath(new URL("../test/doubles/children/acknowledging-writer.js", import.meta.url));
const STORE = { name: "kept", dimensions: 16, properties: { version: "int" } };
const IDS = Array.from({ length: 2_000 }, (_, index) => `r${index}`);

const { values } = parseArgs({
  options: { rounds: { type: "string" }, seed: { type: "string" }, path: { type: "string" } },
});
const rounds = Number(values.rounds ?? 50);
const random = new SeededRandom(Number(values.seed ?? 1));
const folder = values.path === undefined ? mkdtempSync(join(tmpdir(), "holdfast-kill-")) : undefined;
const path = values.path ?? join(folder, "kept.holdfast");

/** What is known to be there: the version of each id that was written last and not deleted. */
let known = new Map();
let acknowledged = 0;
let midWrite = 0;

for (let round = 1; round <= rounds; round += 1) {
  const { state, pending, answered } = await killOne(round);
  acknowledged += answered;
  if (pending !== undefined) midWrite += 1;
  const faults = await check(state, pending);
  if (faults.length > 0) {
    for (const fault of faults.slice(0, 20)) console.error(`round ${round}: ${fault}`);
    console.error(`${faults.length} faults in round ${round}; the folder is left at ${path}`);
    process.exit(1);
  }
}
if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
console.log(
  `${rounds} kills, ${midWrite} of them inside a write, ${acknowledged} acknowledged writes, 0 lost, ${known.size} records`,
);

/** Runs a writer until a random message of its, and a random number of turns more, and kills it. */
function killOne(round) {
  return new Promise((resolve, reject) => {
    const child = fork(WRITER, [path, String(round)], { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const state = new Map(known);
    let pending;
    let answered = 0;
    let messages = 0;
    // One kill in ten comes while the folder is being opened.
    const last = random.chance(0.1) ? 0 : 1 + random.below(60);
    const turns = random.below(300);
    if (last === 0) child.on("spawn", () => afterTurns(turns * 20, () => child.kill("SIGKILL")));
    child.on("message", (message) => {
      messages += 1;
      if (message.type === "begun") pending = message;
      else {
        apply(state, pending);
        pending = undefined;
        answered += 1;
      }
      if (messages === last) afterTurns(turns, () => child.kill("SIGKILL"));
    });
    // `close` comes after the last message has been read, `exit` may come before.
    child.on("close", (_code, signal) => {
      if (signal === "SIGKILL") resolve({ state, pending, answered });
      else reject(new Error(`The writer of round ${round} ended by itself.`));
    });
    child.on("error", reject);
  });
}

function afterTurns(turns, action) {
  if (turns === 0) action();
  else setImmediate(afterTurns, turns - 1, action);
}

function apply(state, { ids, version }) {
  for (const id of ids) {
    if (version === undefined) state.delete(id);
    else state.set(id, version);
  }
}

/** Compares the folder with what was acknowledged; what it holds becomes the start of the next round. */
async function check(state, pending) {
  const store = await openStore({ path, ...STORE });
  try {
    const partition = (await store.getPartition("main")) ?? (await store.createPartition("main"));
    const records = await partition.get(IDS, { includeVectors: true });
    const found = new Map(
      records.flatMap((record) => (record === undefined ? [] : [[record.id, record.properties.version]])),
    );
    const after = new Map(state);
    if (pending !== undefined) apply(after, pending);
    known = found;
    const faults = same(found, state) || same(found, after) ? [] : differences(found, state, after);
    for (const record of records) {
      if (record !== undefined && !sameVector(record.vector, keptVector(record.id, record.properties.version))) {
        faults.push(`${record.id} has the vector of something else`);
      }
    }
    faults.push(...(await searchFaults(partition, found)));
    return faults;
  } finally {
    await store.close();
  }
}

async function searchFaults(partition, found) {
  const faults = [];
  const count = await partition.count();
  if (count !== found.size) faults.push(`count says ${count}, get finds ${found.size}`);
  const ids = [...found.keys()];
  const vectors = ids.map((id) => keptVector(id, found.get(id)));
  const answers = await partition.queryMany({ vectors, limit: 1 });
  for (const [index, { matches, damaged }] of answers.entries()) {
    if (matches[0]?.id !== ids[index]) faults.push(`${matches[0]?.id} answers for ${ids[index]}`);
    if (damaged !== 0) faults.push(`${damaged} damaged rows`);
  }
  const { matches } = await partition.query({ vector: keptVector("r0", 0), limit: 10_000 });
  if (matches.length !== found.size) faults.push(`a search of everything answers ${matches.length} of ${found.size}`);
  for (const { id } of matches) if (!found.has(id)) faults.push(`${id} is answered and was deleted`);
  return faults;
}

function same(a, b) {
  return a.size === b.size && [...a].every(([id, version]) => b.get(id) === version);
}

function differences(found, before, after) {
  return IDS.filter((id) => found.get(id) !== before.get(id) || found.get(id) !== after.get(id)).map(
    (id) => `${id}: version ${found.get(id)}, acknowledged ${before.get(id)}, under way ${after.get(id)}`,
  );
}

function sameVector(a, b) {
  return a.length === b.length && a.every((component, index) => component === b[index]);
}
