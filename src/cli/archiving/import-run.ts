import { isHoldfastError } from "../../errors/index.ts";
import type { ArchiveSource, ImportArchiveReceipt, Memory } from "../../index.ts";
import { Progress } from "../importing/progress.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { formatCount, formatDuration } from "../text/quantities.ts";
import { countsText } from "./counts-text.ts";

export interface ArchiveImportFlags {
  readonly as?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** Takes an archive in and says what it brought. */
export async function importArchiveFrom(
  memory: Memory,
  { archive, sizeBytes }: { readonly archive: ArchiveSource; readonly sizeBytes: number | undefined },
  { as, dryRun, json }: ArchiveImportFlags,
  { stdout, stderr, signal, nowMs }: Surroundings,
): Promise<void> {
  const progress = new Progress(stderr, nowMs);
  const startMs = nowMs();
  try {
    const receipt = await memory.importArchive(archive, {
      signal,
      ...(as !== undefined && { as }),
      ...(dryRun === true && { dryRun }),
      onProgress: ({ phase, events, bytes }) =>
        progress.update({ events, ...shareOf(phase, bytes, sizeBytes, dryRun) }),
    });
    progress.clear();
    const seconds = Math.round(nowMs() - startMs) / 1000;
    await stdout.write(json ? toJsonLine({ ...receipt, seconds }) : receiptText(receipt, { dryRun, seconds }));
  } catch (error) {
    progress.clear();
    if (!isRefusal(error))
      await stderr.write("Stopped: nothing of the archive is visible yet. Run the same command again to go on.\n");
    throw error;
  }
}

/** A file is read twice: verified, and then taken in. */
function shareOf(phase: "verifying" | "importing", bytes: number, sizeBytes: number | undefined, dryRun?: true) {
  if (sizeBytes === undefined) return { bytes };
  if (dryRun === true) return { bytes, totalBytes: sizeBytes };
  return { bytes: phase === "verifying" ? bytes : sizeBytes + bytes, totalBytes: sizeBytes * 2 };
}

function receiptText(
  receipt: ImportArchiveReceipt,
  { dryRun, seconds }: { readonly dryRun: true | undefined; readonly seconds: number },
): string {
  const { segments, vectorsTaken, damaged } = receipt;
  if (dryRun === true) return `${countsText(receipt)}: the archive is whole. Nothing was written.\n`;
  const lines = [`${countsText(receipt)} taken in (${formatDuration(seconds * 1000)}).`];
  if (!vectorsTaken && segments > 0)
    lines.push(
      `note: ${formatCount(segments)} segments wait to be embedded by this model: "holdfast embed" does it now.`,
    );
  if (damaged > 0)
    lines.push(`note: the archive lacks ${formatCount(damaged)} parts that were damaged when it was made.`);
  return `${lines.join("\n")}\n`;
}

function isRefusal(error: unknown): boolean {
  return isHoldfastError(error) && (error.retry === "never" || error.code === "BUSY");
}
