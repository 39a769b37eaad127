import type { Command } from "commander";
import type { ContextEvent, RecallAnswer, RecallHit, RecallOptions } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, toCosine, toCount, toFilter, withCommonOptions, withJson } from "../options.ts";
import { bold, dim, type Output } from "../output.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine, toPrintableText } from "../text/printable.ts";
import { formatMinute } from "../text/quantities.ts";
import { wrapText } from "../text/width.ts";

interface RecallFlags extends CommonOptions {
  readonly user?: string;
  readonly session?: string;
  readonly where?: string;
  readonly limit: number;
  readonly minCosine?: number;
  readonly context: number;
  readonly explain?: true;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast recall where does Alice live
  $ holdfast recall what did we decide --session planning --limit 3 --context 2
  $ holdfast recall Lisbon --where "m.topic = 'home' AND m.year >= 2026"
  $ holdfast recall Lisbon --json | jq -r '.hits[].text'`;

/** `holdfast recall`: asks by meaning and by words. */
export function addRecall(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("recall")
    .summary("ask the memory a question")
    .description("Finds what was remembered that answers a question, by meaning and by words, best first.")
    .argument("<question...>", "the question; several words need no quotes")
    .option("--user <id>", "only sessions of this user")
    .option("--session <id>", "only this session")
    .option("--where <filter>", "a filter on system fields and your own keys, such as \"m.topic = 'home'\"", toFilter)
    .option("--limit <count>", "hits at most", toCount, 10)
    .option("--min-cosine <number>", "drop hits by meaning below this cosine, -1 to 1", toCosine)
    .option("--context <count>", "events of the same session shown before and after each hit, 0 to 20", toCount, 0)
    .option("--explain", "show how the answer came about")
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((words: readonly string[], flags: RecallFlags) =>
    recall(surroundings, words.join(" "), flags),
  );
}

async function recall(surroundings: Surroundings, question: string, flags: RecallFlags): Promise<void> {
  const { stdout, stderr, signal } = surroundings;
  const { user, session, where, limit, minCosine } = flags;
  const options: RecallOptions = {
    limit,
    signal,
    // A command lives for one question: it is worth waiting for the model.
    waitForModel: true,
    context: flags.context,
    explain: flags.explain === true,
    ...(user !== undefined && { user }),
    ...(session !== undefined && { session }),
    ...(where !== undefined && { where }),
    ...(minCosine !== undefined && { minCosineSimilarity: minCosine }),
  };
  await withTenant(surroundings, flags, "existing", async (memory) => {
    const answer = await memory.recall(question, options);
    for (const note of notesOf(answer)) await stderr.write(`note: ${note}\n`);
    await stdout.write(flags.json ? toJsonLine(answer) : renderAnswer(answer, stdout));
  });
}

function renderAnswer(answer: RecallAnswer, output: Output): string {
  const { hits } = answer;
  const shown =
    hits.length === 0 ? "Nothing found.\n" : hits.map((hit, index) => renderHit(hit, index + 1, output)).join("\n");
  return `${shown}${renderExplanation(answer, output)}`;
}

function renderExplanation({ explanation, ranking }: RecallAnswer, output: Output): string {
  if (explanation === undefined) return "";
  const { words, filter, textCandidates, vectorCandidates, ranked, milliseconds } = explanation;
  const times = Object.entries(milliseconds).map(([name, value]) => `${name} ${value.toFixed(1)} ms`);
  const lines = [
    `words: ${words.join(" ")}`,
    `filter: ${filter}; candidates: ${textCandidates} by words, ${vectorCandidates} by meaning; ${ranked} ranked by ${ranking}`,
    times.join(" · "),
  ];
  return `\n${lines
    .flatMap((line) => wrapText(toPrintableLine(line), output.columns))
    .map((line) => dim(output, line))
    .join("\n")}\n`;
}

function renderHit(hit: RecallHit, rank: number, output: Output): string {
  const who = toPrintableLine(hit.producer ?? hit.role ?? "someone");
  const head = `${String(rank).padStart(2)}. ${bold(output, who)}, ${formatMinute(hit.at)} UTC`;
  const lines = wrapText(toPrintableText(hit.text), output.columns - 4).map((line) => `    ${line}`.trimEnd());
  const before = hit.context.before.flatMap((event) => renderNeighbour(event, output));
  const after = hit.context.after.flatMap((event) => renderNeighbour(event, output));
  const origin = wrapText(toPrintableLine(originOf(hit)), output.columns - 4).map((line) => dim(output, `    ${line}`));
  return `${[head, ...before, ...lines, ...after, ...origin].join("\n")}\n`;
}

function renderNeighbour({ producer, role, text }: ContextEvent, output: Output): readonly string[] {
  const said = toPrintableText(`${producer ?? role ?? "someone"}: ${text}`);
  return wrapText(said, output.columns - 6).map((line) => dim(output, `    | ${line}`.trimEnd()));
}

function originOf(hit: RecallHit): string {
  const scores = [
    `score ${hit.score.toFixed(2)}`,
    ...(hit.cosineSimilarity === undefined ? [] : [`cosine ${hit.cosineSimilarity.toFixed(2)}`]),
    ...(hit.textScore === undefined ? [] : [`words ${hit.textScore.toFixed(1)}`]),
    ...(hit.parts === undefined ? [] : [partsOf(hit.parts)]),
  ];
  const user = hit.user === undefined ? "" : ` (${hit.user})`;
  return [`session ${hit.session}${user}`, `event ${hit.event}`, ...scores].join(" · ");
}

function partsOf(parts: NonNullable<RecallHit["parts"]>): string {
  const named = Object.entries(parts).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  return `(${named.join(", ")})`;
}

/** What makes an answer less than whole; said beside it, not in it. */
function notesOf({ vectorSearch, coverage, damaged }: RecallAnswer): readonly string[] {
  const notes: string[] = [];
  const unseen = coverage.pending + coverage.parked;
  if (unseen > 0) notes.push(`${unseen} segments have no vector yet and were compared by words alone.`);
  if (vectorSearch === "model-loading") notes.push("the model was not loaded in time; only words were compared.");
  if (vectorSearch === "not-embedded") notes.push("the question could not be embedded; only words were compared.");
  if (vectorSearch === "other-space") notes.push("another model made the stored vectors; only words were compared.");
  if (damaged > 0) notes.push(`${damaged} damaged rows were left out; restore them from a backup.`);
  return notes;
}
