import type { ArchiveSource } from "../../index.ts";
import type { Input } from "../surroundings.ts";

/** Every archive begins so. */
const BEGINNING = Buffer.from('{"holdfast":"archive"');

/** What an input turned out to be: an archive, or lines of events. */
export type Recognised =
  | { readonly archive: ArchiveSource; readonly sizeBytes: number | undefined }
  | { readonly lines: Input };

/** Looks at an input's first bytes. A file is begun anew afterwards, and a stream is gone on with. */
export async function recognise(input: Input): Promise<Recognised> {
  const chunks = input.chunks[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let bytes = 0;
  let ended = false;
  while (bytes < BEGINNING.length && !ended) {
    const next = await chunks.next();
    if (next.done === true) ended = true;
    else {
      seen.push(next.value);
      bytes += next.value.length;
    }
  }
  const isArchive = Buffer.concat(seen).subarray(0, BEGINNING.length).equals(BEGINNING);
  if (isArchive && input.sizeBytes !== undefined) {
    await chunks.return?.();
    return { archive: () => input.chunks, sizeBytes: input.sizeBytes };
  }
  const rest = goOn(seen, chunks);
  if (isArchive) return { archive: rest, sizeBytes: undefined };
  return { lines: { ...input, chunks: rest } };
}

async function* goOn(seen: readonly Uint8Array[], chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* seen;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  } finally {
    await chunks.return?.();
  }
}
