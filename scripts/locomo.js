/** Reads one dialogue of LoCoMo's file: its turns in order, and its questions with the turns that answer them. */

const MONTHS = "January February March April May June July August September October November December".split(" ");
const SESSION_TIME = /^(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) (\w+), (\d{4})$/;
const FALSE_PREMISE = 5;

/** `at` is the session's time, taken as UTC, plus one second for each turn before. A shared picture's caption follows the text. */
export function turnsOf({ conversation }) {
  const turns = [];
  for (let number = 1; `session_${number}_date_time` in conversation; number += 1) {
    const start = timeOf(conversation[`session_${number}_date_time`]);
    for (const [order, turn] of (conversation[`session_${number}`] ?? []).entries()) {
      turns.push({
        session: `session_${number}`,
        id: turn.dia_id,
        at: new Date(start + order * 1000).toISOString(),
        producer: turn.speaker,
        text: textOf(turn),
      });
    }
  }
  return turns;
}

/** Questions of categories 1 to 4 of whose evidence at least one turn exists; other ids are left out of it. */
export function questionsOf(dialogue) {
  const known = new Set(turnsOf(dialogue).map(({ id }) => id));
  return dialogue.qa.flatMap(({ question, answer, category, evidence }) => {
    if (category === FALSE_PREMISE) return [];
    const ids = (evidence ?? []).flatMap((entry) => entry.split(/[;,\s]+/));
    const found = [...new Set(ids)].filter((id) => known.has(id));
    return found.length === 0 ? [] : [{ question, answer, category, evidence: found }];
  });
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
