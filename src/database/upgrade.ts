import { dirname, join } from "node:path";
import { createPrivateFile, syncFolder } from "../io/disk.ts";
import { mintId } from "../io/ids.ts";
import { ownProcess } from "../io/processes.ts";
import { removePath, renamePath, syncFile } from "../io/whole-files.ts";
import { type Connection, rollback } from "./connection.ts";
import { OLD_FORMAT_PREFIX, unfinishedName } from "./folder-files.ts";
import { type FormatHistory, stepsFrom } from "./format-history.ts";
import { copyDatabase, withStillDatabase } from "./whole-database.ts";

export interface Upgrade {
  readonly path: string;
  readonly from: number;
  /** The connection is the only one that there can be. */
  readonly exclusive: boolean;
}

/**
 * Makes a database of an older format one of the present format, in one transaction, and keeps a copy of it as it was.
 * Ended anywhere it is of one of the two; a copy that is kept already is made anew, since others may have written since.
 */
export function upgradeFormat(connection: Connection, formats: FormatHistory, upgrade: Upgrade): void {
  const { path, from, exclusive } = upgrade;
  const part = join(dirname(path), unfinishedName(ownProcess(), mintId()));
  try {
    if (exclusive) makeCopy(part, () => copyDatabase(connection, part));
    connection.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have been first.
      if (versionOf(connection) === from) {
        // Nobody writes now, and so the copy is what the transaction starts from.
        if (!exclusive) makeCopy(part, () => withStillDatabase(path, true, (reader) => copyDatabase(reader, part)));
        keep(part, path, from);
        for (const step of stepsFrom(formats, from) ?? []) step.run(connection);
        connection.exec(`PRAGMA user_version = ${formats.version}`);
      }
      connection.exec("COMMIT");
    } catch (error) {
      rollback(connection);
      throw error;
    }
  } finally {
    removePath(part);
  }
}

function makeCopy(part: string, copy: () => void): void {
  createPrivateFile(part);
  copy();
  syncFile(part);
}

function keep(part: string, path: string, from: number): void {
  const folder = dirname(path);
  renamePath(part, join(folder, `${OLD_FORMAT_PREFIX}${from}`));
  syncFolder(folder);
}

function versionOf(connection: Connection): number {
  return Number(connection.prepare("PRAGMA user_version").get()?.user_version);
}
