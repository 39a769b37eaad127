import { dirname } from "node:path";

const SECTOR_BYTES = 512;

/**
 * What a disk may hold after a power cut: of each file, what was synced, and of what was not, nothing, all or any part in
 * any order; of a folder's entries, those that were there at its last sync, and any of the newer ones.
 */
export class DiskState {
  /** What a path names now: the synced content of its file, and the steps behind it. */
  #current = new Map();
  /** By folder: what its names stood for at its last sync, and how they changed since, in order. */
  #folders = new Map();

  apply({ kind, path, offset, data }) {
    switch (kind) {
      case "create":
        this.#name(path, { synced: Buffer.alloc(0), pending: [] });
        return;
      // A folder without files is not in an image: what opens the place makes it again.
      case "folder":
      case "remove":
        this.#name(path, undefined);
        return;
      case "rename": {
        const file = this.#current.get(path);
        this.#name(path, undefined);
        this.#name(data.toString("utf8"), file);
        return;
      }
      case "sync":
        if (this.#current.has(path)) syncFile(this.#current.get(path));
        else this.#syncFolder(path);
        return;
      default:
        this.#current.get(path)?.pending.push({ kind, offset, data });
    }
  }

  /**
   * One image, as contents by path. `keeps` decides for each step that was not synced: false (lost), true (kept), or
   * "torn" (of its sectors, each by itself). `keepsEntry` decides for each change of a name that was not synced.
   */
  image({ keeps, keepsEntry, chooses }) {
    const image = new Map();
    for (const { synced, pending } of this.#folders.values()) {
      const names = new Map(synced);
      for (const { path, file } of pending) if (keepsEntry()) names.set(path, file);
      for (const [path, file] of names) if (file !== undefined) image.set(path, contentOf(file, keeps, chooses));
    }
    return image;
  }

  #name(path, file) {
    if (file === undefined) this.#current.delete(path);
    else this.#current.set(path, file);
    const folder = dirname(path);
    if (!this.#folders.has(folder)) this.#folders.set(folder, { synced: new Map(), pending: [] });
    this.#folders.get(folder).pending.push({ path, file });
  }

  #syncFolder(path) {
    const folder = this.#folders.get(path);
    if (folder === undefined) return;
    for (const { path: name, file } of folder.pending) folder.synced.set(name, file);
    folder.pending = [];
  }
}

function syncFile(file) {
  for (const step of file.pending) file.synced = applyStep(file.synced, step);
  file.pending = [];
}

function contentOf({ synced, pending }, keeps, chooses) {
  let content = Buffer.from(synced);
  for (const [index, step] of pending.entries()) {
    const kept = keeps(step, index === pending.length - 1);
    if (kept === "torn") content = applySectors(content, step, chooses);
    else if (kept) content = applyStep(content, step);
  }
  return content;
}

function applyStep(content, { kind, offset, data }) {
  if (kind === "truncate") return resized(content, offset);
  const grown = offset + data.length > content.length ? resized(content, offset + data.length) : content;
  data.copy(grown, offset);
  return grown;
}

/** Any of the sectors that the write covers; the file may have grown though its content did not come. */
function applySectors(content, step, chooses) {
  if (step.kind === "truncate") return chooses() ? applyStep(content, step) : content;
  const { offset, data } = step;
  let result = content;
  for (let at = 0; at < data.length; ) {
    const length = Math.min(SECTOR_BYTES - ((offset + at) % SECTOR_BYTES), data.length - at);
    const piece = { kind: "write", offset: offset + at, data: data.subarray(at, at + length) };
    if (chooses()) result = applyStep(result, piece);
    at += length;
  }
  return result;
}

function resized(content, length) {
  if (length <= content.length) return content.subarray(0, length);
  const grown = Buffer.alloc(length);
  content.copy(grown);
  return grown;
}
