import { NO_COUNTS } from "../archive/archived.ts";
import { ARCHIVE_START } from "../archive/check-chain.ts";
import { type CallBounds, withDeadline } from "../database/call.ts";
import type { Snapshot } from "../database/database.ts";
import { mintId } from "../io/ids.ts";
import type { ArchiveExportProgress, ExportArchiveOptions } from "./archive-contract.ts";
import { type ArchiveCursor, type ArchivePageInput, type ArchivePageOutput, readArchivePage } from "./archive-page.ts";
import type { MemoryCore } from "./core.ts";

/** The lines of an archive in pieces of about a mebibyte, each made when it is asked for. */
export async function* exportArchive(core: MemoryCore, options: ExportArchiveOptions): AsyncGenerator<string> {
  core.assertOpen();
  const { tenant: only, skipDamaged = false, onProgress, ...call } = options;
  const bounds = withDeadline(call, "read");
  const snapshot = await core.database.openSnapshot();
  try {
    const input = { only, skipDamaged, id: mintId(), createdAt: BigInt(core.clock.nowMicros()) };
    yield* readPages(snapshot, input, { bounds, onProgress });
  } finally {
    await snapshot.close();
  }
}

async function* readPages(
  snapshot: Snapshot,
  input: Omit<ArchivePageInput, "cursor" | "place" | "counts">,
  {
    bounds,
    onProgress,
  }: { readonly bounds: CallBounds; readonly onProgress: ((progress: ArchiveExportProgress) => void) | undefined },
): AsyncGenerator<string> {
  let bytes = 0;
  let page: Omit<ArchivePageOutput, "text"> = { cursor: BEGINNING, place: ARCHIVE_START, counts: NO_COUNTS };
  while (page.cursor.step !== "done") {
    const { text, ...next } = await snapshot.read(readArchivePage, { ...input, ...page }, bounds);
    page = next;
    bytes += Buffer.byteLength(text);
    onProgress?.({ ...page.counts, bytes });
    yield text;
  }
}

const BEGINNING: ArchiveCursor = { step: "head" };
