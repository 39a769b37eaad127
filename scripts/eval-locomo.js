/**
 * How much of the evidence for a question is among the first hits: both channels together, words alone, vectors alone.
 *
 *     npm run eval:locomo -- locomo10.json [--folder ./locomo.holdfast] [--derive segment-with-time] [--json]
 *
 * LoCoMo (Maharana et al., 2024) is a set of long conversations with questions and the turns that answer them. Each
 * conversation is a tenant, each of its sessions a session, each turn an event: id, producer, time, and text, with the
 * caption of a shared picture behind it. Asked are the questions of categories 1 to 4 of whose evidence at least one turn
 * exists, with default settings. Recall@k is the share of a question's evidence turns among its first k distinct turns,
 * averaged over the questions; neighbours in `context` do not count. Ranking constants were tuned on conversations 1 to 7.
 *
 * With --folder the memory stays there and is used again: embedding the turns takes minutes. --derive says what is embedded
 * of a turn; give each its own folder.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openMemory } from "../dist/index.js";
import { questionsOf, turnsOf } from "./locomo.js";

const CUTS = [5, 10, 20];
const TUNED_ON = 7;
const CATEGORIES = { 1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop" };
const CHANNELS = { hybrid: ["text", "vector"], text: ["text"], vector: ["vector"] };
/** As many as the last cut; the ranking is that of the default ten. Turns are short: each is one segment. */
const HITS = 20;
const TURNS_PER_COMMIT = 32;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: "string" }, derive: { type: "string" }, json: { type: "boolean" } },
});
const [file] = positionals;
if (file === undefined) {
  console.error("Usage: npm run eval:locomo -- <locomo10.json> [--folder <folder>] [--derive <name>] [--json]");
  process.exitCode = 2;
} else {
  const temporary = options.folder === undefined ? mkdtempSync(join(tmpdir(), "holdfast-locomo-")) : undefined;
  try {
    await evaluate(JSON.parse(readFileSync(file, "utf8")), options.folder ?? join(temporary, "locomo.holdfast"));
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

async function evaluate(dialogues, folder) {
  const memory = await openMemory(folder, { derive: options.derive ?? "segment" });
  try {
    await load(memory, dialogues);
    const rows = [];
    for (const [index, dialogue] of dialogues.entries()) rows.push(...(await ask(memory, dialogue, index)));
    report(rows);
  } finally {
    await memory.close();
  }
}

async function load(memory, dialogues) {
  const total = dialogues.reduce((sum, dialogue) => sum + turnsOf(dialogue).length, 0);
  let done = 0;
  for (const dialogue of dialogues) {
    const tenant = await memory.createTenant(dialogue.sample_id);
    const turns = turnsOf(dialogue);
    for (let start = 0; start < turns.length; start += TURNS_PER_COMMIT) {
      const slice = turns.slice(start, start + TURNS_PER_COMMIT);
      for (const id of new Set(slice.map(({ session }) => session))) {
        const session = await tenant.createSession(id);
        const events = slice.filter((turn) => turn.session === id).map(({ session: _, ...event }) => event);
        await session.rememberMany(events);
      }
      done += slice.length;
      if (process.stderr.isTTY) process.stderr.write(`\rremembering ${done} of ${total} turns`);
    }
  }
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[2K");
}

async function ask(memory, dialogue, index) {
  const tenant = await memory.tenant(dialogue.sample_id);
  const rows = [];
  for (const { question, category, evidence } of questionsOf(dialogue)) {
    const row = { tuned: index < TUNED_ON, category, recall: {}, milliseconds: 0 };
    for (const [name, channels] of Object.entries(CHANNELS)) {
      const began = performance.now();
      const settings = name === "hybrid" ? {} : { channels };
      const { hits } = await tenant.recall(question, { limit: HITS, waitForModel: true, ...settings });
      if (name === "hybrid") row.milliseconds = performance.now() - began;
      const turns = [...new Set(hits.map(({ event }) => event))];
      row.recall[name] = CUTS.map((cut) => shareOf(evidence, turns.slice(0, cut)));
    }
    rows.push(row);
  }
  return rows;
}

function shareOf(evidence, turns) {
  const found = new Set(turns);
  return evidence.filter((id) => found.has(id)).length / evidence.length;
}

function report(rows) {
  const groups = [
    ...Object.entries(CATEGORIES).map(([category, name]) => [
      name,
      rows.filter((row) => row.category === Number(category)),
    ]),
    ["conversations 1-7", rows.filter(({ tuned }) => tuned)],
    ["conversations 8-10", rows.filter(({ tuned }) => !tuned)],
    ["all", rows],
  ];
  const table = groups.map(([name, group]) => ({
    name,
    questions: group.length,
    ...Object.fromEntries(
      Object.keys(CHANNELS).map((channel) => [
        channel,
        CUTS.map((_, cut) => mean(group.map(({ recall }) => recall[channel][cut]))),
      ]),
    ),
  }));
  const times = rows.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  if (options.json) console.log(JSON.stringify({ cuts: CUTS, groups: table }, null, 2));
  else {
    const heads = Object.keys(CHANNELS).flatMap((channel) => CUTS.map((cut) => `${channel}@${cut}`));
    print(["recall", "questions", ...heads]);
    for (const { name, questions, ...channels } of table)
      print([name, String(questions), ...Object.keys(CHANNELS).flatMap((channel) => channels[channel].map(text))]);
    console.log(`${rows.length} questions; a recall of ${HITS}: median ${times[times.length >> 1]?.toFixed(1)} ms`);
  }
  console.log(`hybrid recall@10 ${text(table.at(-1).hybrid[CUTS.indexOf(10)])}`);
}

function print(cells) {
  console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(20) : cell.padStart(10))).join(""));
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function text(value) {
  return value.toFixed(3);
}
