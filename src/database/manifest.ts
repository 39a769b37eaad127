import { createHash } from "node:crypto";
import type { BackupManifest } from "../contract/backup.ts";
import { HoldfastError } from "../errors/index.ts";
import { readSmallFile } from "../io/whole-files.ts";

const KIND = "holdfast-backup";
const VERSION = 1;
const MANIFEST_BYTES_MAX = 1024 * 1024;

export function manifestText(manifest: BackupManifest): string {
  return `${JSON.stringify({ ...described(manifest), checksum: checksumOf(manifest) }, null, 2)}\n`;
}

/** Reads a manifest; its own checksum tells a changed one, so that no count or name in it is taken on trust. */
export function readManifest(path: string): BackupManifest {
  const fields = parse(path);
  if (fields?.kind !== KIND) {
    const message = `${path} does not describe a backup of Holdfast; name the folder that "holdfast backup" made.`;
    throw new HoldfastError("FOREIGN_STORAGE", message, { details: { path } });
  }
  if (typeof fields.version === "number" && fields.version > VERSION) {
    const message = `${path} is of a newer kind (${fields.version}) than this version of Holdfast reads: update the package.`;
    throw new HoldfastError("FORMAT_TOO_NEW", message, { details: { path, version: fields.version } });
  }
  const { kind: _kind, version: _version, checksum, ...manifest } = fields;
  if (fields.version !== VERSION || !isManifest(manifest) || checksum !== checksumOf(manifest)) {
    const message = `${path} is damaged: it is not what was written when the backup was made. Take another backup.`;
    throw new HoldfastError("DAMAGED", message, { details: { path } });
  }
  return manifest;
}

function parse(path: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(readSmallFile(path, MANIFEST_BYTES_MAX) ?? "null");
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isManifest(fields: Readonly<Record<string, unknown>>): fields is typeof fields & BackupManifest {
  const { format, epoch, createdAt, sizeBytes, sha256, rows } = fields;
  return (
    isCount(format) &&
    typeof epoch === "string" &&
    typeof createdAt === "string" &&
    isCount(sizeBytes) &&
    typeof sha256 === "string" &&
    typeof rows === "object" &&
    rows !== null &&
    Object.values(rows).every(isCount)
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function described({ format, epoch, createdAt, sizeBytes, sha256, rows }: BackupManifest): object {
  return { kind: KIND, version: VERSION, format, epoch, createdAt, sizeBytes, sha256, rows };
}

function checksumOf(manifest: BackupManifest): string {
  return createHash("sha256")
    .update(JSON.stringify(described(manifest)))
    .digest("hex");
}
