/**
 * Turns a file in the form of LoCoMo (long conversations with questions about them) into lines that
 * `holdfast import` reads:
 *
 *     node scripts/locomo-to-jsonl.js locomo10.json > conversations.jsonl
 *     node scripts/locomo-to-jsonl.js --questions locomo10.json > questions.jsonl
 *
 * A turn becomes { session: "<sample>/session_<n>", user: "<sample>", id: "<sample>/<dia_id>", at, producer: speaker,
 * text, properties: { dia_id } }. `at` is the session's time, taken as UTC, plus one second for each turn before. Where a
 * picture was shared, its caption follows the text: `… [shares a photo: <caption>]`.
 *
 * A question becomes { user: "<sample>", question, answer, category, evidence: [ids of events] }. Those of category 5
 * (their premise is false) and those that name no turn that is there are left out.
 */
import { readFileSync } from "node:fs";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const SESSION_TIME = /^(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) (\w+), (\d{4})$/;
const FALSE_PREMISE = 5;

function* turnsOf({ sample_id: sample, conversation }) {
  for (let number = 1; `session_${number}_date_time` in conversation; number += 1) {
    const turns = conversation[`session_${number}`] ?? [];
    const start = timeOf(conversation[`session_${number}_date_time`]);
    for (const [order, turn] of turns.entries()) {
      yield {
        session: `${sample}/session_${number}`,
        user: sample,
        id: `${sample}/${turn.dia_id}`,
        at: new Date(start + order * 1000).toISOString(),
        producer: turn.speaker,
        text: textOf(turn),
        properties: { dia_id: turn.dia_id },
      };
    }
  }
}

/** `1:56 pm on 8 May, 2023` in milliseconds since 1970. */
function timeOf(text) {
  const [, hour, minute, half, day, month, year] = SESSION_TIME.exec(text) ?? [];
  if (!MONTHS.includes(month)) throw new Error(`No time of the form "1:56 pm on 8 May, 2023": ${text}`);
  const hours = (Number(hour) % 12) + (half === "pm" ? 12 : 0);
  return Date.UTC(Number(year), MONTHS.indexOf(month), Number(day), hours, Number(minute));
}

function textOf({ text, blip_caption: caption }) {
  return caption ? `${text} [shares a photo: ${caption}]`.trim() : text;
}

function* questionsOf(dialogue) {
  const known = new Set([...turnsOf(dialogue)].map(({ id }) => id));
  for (const { question, answer, category, evidence } of dialogue.qa) {
    if (category === FALSE_PREMISE) continue;
    const ids = (evidence ?? []).flatMap((text) => turnIds(text)).map((id) => `${dialogue.sample_id}/${id}`);
    const found = [...new Set(ids)].filter((id) => known.has(id));
    if (found.length > 0) yield { user: dialogue.sample_id, question, answer, category, evidence: found };
  }
}

/** Some entries name several turns, or write `D30:05` for `D30:5`. */
function turnIds(text) {
  return [...text.matchAll(/D:?(\d+):(\d+)/g)].map(([, session, turn]) => `D${Number(session)}:${Number(turn)}`);
}

const paths = process.argv.slice(2).filter((argument) => argument !== "--questions");
if (paths.length !== 1) {
  console.error("Usage: node scripts/locomo-to-jsonl.js [--questions] <file.json>");
  process.exitCode = 2;
} else {
  const linesOf = process.argv.includes("--questions") ? questionsOf : turnsOf;
  const dialogues = JSON.parse(readFileSync(paths[0], "utf8"));
  const lines = dialogues.flatMap((dialogue) => [...linesOf(dialogue)].map((line) => JSON.stringify(line)));
  process.stdout.write(`${lines.join("\n")}\n`);
}
