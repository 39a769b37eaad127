/**
 * Turns a file in the form of LoCoMo (long conversations with questions about them) into lines that
 * `holdfast import` reads:
 *
 *     node scripts/locomo-to-jsonl.js locomo10.json > conversations.jsonl
 *     node scripts/locomo-to-jsonl.js --questions locomo10.json > questions.jsonl
 *
 * A turn becomes { session: "<sample>/session_<n>", user: "<sample>", id: "<sample>/<dia_id>", at, producer: speaker,
 * text, properties: { dia_id } }; a question { user: "<sample>", question, answer, category, evidence: [ids of events] }.
 * scripts/locomo.js says which turns and questions.
 */
import { readFileSync } from "node:fs";
import { questionsOf, turnsOf } from "./locomo.js";

function eventLines(dialogue) {
  const { sample_id: sample } = dialogue;
  return turnsOf(dialogue).map(({ session, id, ...turn }) => ({
    session: `${sample}/${session}`,
    user: sample,
    id: `${sample}/${id}`,
    ...turn,
    properties: { dia_id: id },
  }));
}

function questionLines(dialogue) {
  const { sample_id: sample } = dialogue;
  return questionsOf(dialogue).map(({ evidence, ...question }) => ({
    user: sample,
    ...question,
    evidence: evidence.map((id) => `${sample}/${id}`),
  }));
}

const paths = process.argv.slice(2).filter((argument) => argument !== "--questions");
if (paths.length !== 1) {
  console.error("Usage: node scripts/locomo-to-jsonl.js [--questions] <file.json>");
  process.exitCode = 2;
} else {
  const linesOf = process.argv.includes("--questions") ? questionLines : eventLines;
  const dialogues = JSON.parse(readFileSync(paths[0], "utf8"));
  process.stdout.write(
    `${dialogues
      .flatMap(linesOf)
      .map((line) => JSON.stringify(line))
      .join("\n")}\n`,
  );
}
