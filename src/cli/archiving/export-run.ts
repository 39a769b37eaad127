import type { ArchiveExportProgress, ExportArchiveOptions, Memory } from "../../index.ts";
import { Progress } from "../importing/progress.ts";
import type { FileSink, Surroundings } from "../surroundings.ts";
import { countsText } from "./counts-text.ts";

export interface ArchiveExportFlags {
  readonly tenant?: string;
  readonly skipDamaged?: true;
}

/** Writes an archive to a file or to standard output, as fast as that takes it. */
export async function exportArchiveTo(
  memory: Memory,
  output: FileSink,
  { tenant, skipDamaged }: ArchiveExportFlags,
  { stderr, signal, nowMs }: Surroundings,
): Promise<void> {
  const progress = new Progress(stderr, nowMs);
  let counts: ArchiveExportProgress | undefined;
  const options: ExportArchiveOptions = {
    signal,
    ...(tenant !== undefined && { tenant }),
    ...(skipDamaged === true && { skipDamaged }),
    onProgress: (now) => {
      counts = now;
      progress.update({ events: now.events, bytes: now.bytes });
    },
  };
  try {
    for await (const piece of memory.exportArchive(options)) {
      await output.write(piece);
      if (output.closed) break;
    }
  } finally {
    progress.clear();
  }
  if (counts === undefined || output.closed) return;
  await stderr.write(`${countsText(counts)} written.\n`);
  if (counts.damaged > 0) await stderr.write(`note: ${counts.damaged} damaged parts were left out.\n`);
}
