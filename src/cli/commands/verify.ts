import type { Command } from "commander";
import type { VerifyOptions, VerifyReport } from "../../index.ts";
import { Ended, EXIT } from "../exit-codes.ts";
import { type CommonOptions, folderOf, withFolderOptions, withJson } from "../options.ts";
import { StageLine } from "../stage-line.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine } from "../text/printable.ts";
import { countOf, formatCount } from "../text/quantities.ts";
import { renderTable } from "../text/table.ts";

interface VerifyFlags extends CommonOptions {
  readonly deep?: true;
  readonly json?: true;
}

const HELP = `
Reads every page, row, word and vector and holds them against each other. Nothing is changed, and the memory may be in
use meanwhile. Ends with 3 when something is damaged; "holdfast repair" mends it.

Examples:
  $ holdfast verify
  $ holdfast verify --deep --json > report.json
  $ holdfast verify || holdfast repair --yes`;

/** `holdfast verify`: whether everything is whole, and what is not. */
export function addVerify(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("verify")
    .summary("check that everything is whole")
    .description("Reads everything in the memory's folder and says whether it is whole, of every tenant.")
    .option("--deep", "also search for every vector, which takes long in a large memory")
    .addHelpText("after", HELP);
  withFolderOptions(withJson(command), surroundings).action(async (flags: VerifyFlags) => {
    const { stdout, stderr, signal } = surroundings;
    const line = new StageLine(stderr);
    const options: VerifyOptions = {
      signal,
      deep: flags.deep === true,
      onProgress: (progress) => line.update(progress),
    };
    const report = await surroundings.verifyFolder(folderOf(flags), options).finally(() => line.clear());
    await stdout.write(flags.json ? toJsonLine(report) : renderVerification(report, stdout.columns));
    if (!report.ok) throw new Ended(EXIT.damaged);
  });
}

/** What was read, and what was found, as people read it. */
export function renderVerification(report: VerifyReport, columns: number): string {
  const { counts, findings, totals } = report;
  const read = [
    countOf(counts.tenants, "tenant"),
    countOf(counts.sessions, "session"),
    countOf(counts.events, "event"),
    countOf(counts.segments, "segment"),
    countOf(counts.words, "word"),
    countOf(counts.records, "vector"),
  ].join(", ");
  const all = Object.values(totals).reduce((sum, count) => sum + count, 0);
  const table = renderTable(
    [{ title: "kind" }, { title: "place" }, { title: "row" }, { title: "what", shrinks: true }],
    findings.map(({ kind, place, row = "", message }) => [kind, place, row, message]),
    columns,
  );
  const more = all > findings.length ? [`and ${formatCount(all - findings.length)} more`] : [];
  const verdict = report.ok ? "Everything is whole." : 'Something is damaged: "holdfast repair" mends it.';
  return [
    ...(findings.length > 0 ? [...table, ...more, ""] : []),
    `${toPrintableLine(report.path)}: ${read}.`,
    verdict,
    "",
  ].join("\n");
}
