/**
 * How much of the evidence for a question is among the first ten hits: words alone, vectors alone, both.
 *
 *     node scripts/locomo-to-jsonl.js locomo10.json > turns.jsonl
 *     node scripts/locomo-to-jsonl.js --questions locomo10.json > questions.jsonl
 *     npx holdfast import turns.jsonl --path ./locomo.holdfast
 *     node bench/locomo.js ./locomo.holdfast questions.jsonl
 *
 * Each question is asked within its user. Evidence recall@10 is the share of the question's evidence events among the
 * first ten hits, averaged over the questions. For one channel alone every event of the user is ordered by that
 * channel's score.
 */
import { readFileSync } from "node:fs";
import { openMemory } from "holdfast";

const HITS = 10;
/** More than a user's events, so that every one of them is scored by both channels. */
const EVERYTHING = 2_000;

const CATEGORIES = { 1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop" };

const [folder, questionsFile] = process.argv.slice(2);
if (questionsFile === undefined) {
  console.error("Usage: node bench/locomo.js <folder> <questions.jsonl>");
  process.exitCode = 2;
} else {
  await measure(folder, readFileSync(questionsFile, "utf8").trim().split("\n").map(JSON.parse));
}

async function measure(path, questions) {
  const memory = await openMemory(path);
  const rows = [];
  const times = [];
  try {
    for (const { question, user, evidence, category } of questions) {
      const all = (await memory.recall(question, { user, limit: EVERYTHING })).hits;
      const began = performance.now();
      const { hits } = await memory.recall(question, { user, limit: HITS });
      times.push(performance.now() - began);
      const recallOf = (found) => shareOf(evidence, found.slice(0, HITS));
      rows.push({
        category,
        words: recallOf(orderedBy(all, ({ textScore }) => textScore)),
        vectors: recallOf(orderedBy(all, ({ cosineSimilarity }) => cosineSimilarity)),
        both: recallOf(hits),
      });
    }
  } finally {
    await memory.close();
  }
  print(rows, times);
}

function orderedBy(hits, scoreOf) {
  return hits.filter((hit) => scoreOf(hit) !== undefined).sort((a, b) => scoreOf(b) - scoreOf(a));
}

function shareOf(evidence, hits) {
  const found = new Set(hits.map(({ event }) => event));
  return evidence.filter((id) => found.has(id)).length / evidence.length;
}

function print(rows, times) {
  const groups = Object.entries(CATEGORIES).map(([category, name]) => [
    name,
    rows.filter((row) => row.category === Number(category)),
  ]);
  const table = [...groups, ["all", rows]].map(([name, group]) => [
    name,
    String(group.length),
    ...["words", "vectors", "both"].map((channel) => mean(group.map((row) => row[channel])).toFixed(3)),
  ]);
  for (const row of [["recall@10", "questions", "words", "vectors", "both"], ...table])
    console.log(row.map((cell, index) => (index === 0 ? cell.padEnd(12) : cell.padStart(10))).join(""));
  const sorted = times.sort((a, b) => a - b);
  console.log(
    `a recall: median ${at(sorted, 0.5)} ms, 95 % within ${at(sorted, 0.95)} ms (the question's vector known)`,
  );
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function at(sorted, share) {
  return (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
}
