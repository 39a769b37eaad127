import { HoldfastError } from "../../errors/index.ts";
import type { Connection } from "../connection.ts";
import { openBetterSqlite3 } from "./better-sqlite3.ts";
import { openNodeSqlite } from "./node-sqlite.ts";

export interface DriverOptions {
  readonly readOnly: boolean;
  readonly mustExist: boolean;
}

const NODE_SQLITE_SINCE = 24;

/** Opens a connection with the driver of this Node version; raises PACKAGE_MISSING with what to do, or the native error. */
export function openConnection(path: string, options: DriverOptions): Connection {
  const major = Number(process.versions.node.split(".")[0]);
  try {
    return major >= NODE_SQLITE_SINCE ? openNodeSqlite(path, options) : openBetterSqlite3(path, options);
  } catch (cause) {
    if (isLoadFailure(cause)) {
      const message =
        "No SQLite driver can be loaded: run `npm install better-sqlite3@12.11.1` " +
        "(it compiles with python3, make and g++ where no prebuilt file fits), or use Node 24 or newer, which has one built in.";
      throw new HoldfastError("PACKAGE_MISSING", message, {
        cause,
        details: { package: "better-sqlite3", node: process.versions.node },
      });
    }
    throw cause;
  }
}

function isLoadFailure(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  const codes = ["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND", "ERR_UNKNOWN_BUILTIN_MODULE", "ERR_DLOPEN_FAILED"];
  return (code !== undefined && codes.includes(code)) || /bindings file|NODE_MODULE_VERSION/.test(message ?? "");
}
