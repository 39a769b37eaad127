import type { Connection } from "../database/connection.ts";
import { openConnection } from "../database/drivers/open-connection.ts";
import { isDamageError, toDatabaseError } from "../database/errors.ts";
import { APPLICATION_ID, assertFormat, configure, foreign } from "../database/format.ts";
import { FORMATS } from "../database/format-history.ts";
import { DATABASE_FILE } from "../database/open-files.ts";
import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { sizeOf } from "../io/disk.ts";
import { eventChecks } from "./event-checks.ts";
import { type Finding, Findings } from "./findings.ts";
import { nearestChecks } from "./nearest-checks.ts";
import { recordChecks } from "./record-checks.ts";
import type { SteppedJob } from "./stepped-job.ts";
import { schemaCheck, sequenceCheck, treeChecks } from "./structure-checks.ts";
import { tenantChecks } from "./tenant-checks.ts";
import { type Check, noCounts, type Steps, Verification } from "./verification.ts";
import type { MaintenanceProgress, VerifyReport } from "./verify-contract.ts";
import { wordChecks } from "./word-checks.ts";

/** What a verification is told; plain data, so that it can run in a thread. */
export interface VerifySettings {
  /** The database's real path. */
  readonly file: string;
  readonly deep: boolean;
  readonly maxFindings: number;
  readonly memoryBudgetBytes: number;
  /** What was found before the database was opened. */
  readonly found: readonly Finding[];
}

/** The verification of one folder: steps, how far they are, and what they answer. */
export class FolderCheck implements SteppedJob<VerifyReport> {
  readonly #settings: VerifySettings;
  readonly #schema: readonly string[];
  readonly #findings: Findings;
  #verification: Verification | undefined;

  /** @param schema - the tables of a new folder */
  constructor(settings: VerifySettings, schema: readonly string[]) {
    this.#settings = settings;
    this.#schema = schema;
    this.#findings = new Findings(settings.maxFindings);
    for (const finding of settings.found) this.#findings.add(finding);
  }

  get progress(): MaintenanceProgress {
    return this.#verification?.progress ?? { stage: "files", stagesDone: 0, stages: 1, rows: 0 };
  }

  /** One read transaction from the first check to the last, so that a live folder is seen at one moment. */
  *steps(): Steps {
    if (this.#settings.found.some(({ kind }) => kind === "empty-database")) return;
    const connection = this.#open();
    if (connection === undefined) return;
    try {
      this.#verification = new Verification(connection, this.#findings, this.#settings.deep);
      yield* this.#verification.run(this.#checks());
    } finally {
      connection.exec("ROLLBACK");
      connection.close();
    }
  }

  result(): VerifyReport {
    const { file, deep } = this.#settings;
    const { listed, totals, isWhole } = this.#findings;
    const counts = this.#verification?.counts ?? noCounts();
    return { ok: isWhole, path: file, findings: listed, totals, counts: { ...counts }, deep };
  }

  #checks(): readonly Check[] {
    const { file, deep, memoryBudgetBytes } = this.#settings;
    const checks = [
      schemaCheck(this.#schema),
      treeChecks,
      sequenceCheck,
      recordChecks,
      eventChecks,
      wordChecks,
      tenantChecks,
    ];
    const engine = {
      path: file,
      fileIdentity: undefined,
      lockTimeoutMs: 0,
      receiptRetentionMs: 0,
      memoryBudgetBytes,
      inMemory: false,
      exclusive: false,
      readOnly: true,
      openPath: file,
      copiedStamp: undefined,
    };
    return deep ? [...checks, nearestChecks(engine)] : checks;
  }

  /** Answers nothing when the file cannot be read as a database; what is no database of ours is refused. */
  #open(): Connection | undefined {
    const { file } = this.#settings;
    // Whoever closes last moves the log into the file: one that a crash left is read where it is.
    const readOnly = sizeOf(`${file}-wal`) > 0;
    let connection: Connection | undefined;
    try {
      connection = openConnection(file, { readOnly, mustExist: true });
      configure(connection, { exclusive: false, autoCheckpoint: false });
      connection.exec("PRAGMA query_only = ON; BEGIN");
      assertOurs(connection, file);
      return connection;
    } catch (error) {
      connection?.close();
      if (isHoldfastError(error, "DAMAGED") || isDamageError(error)) {
        const message = `The first page cannot be read: ${(error as Error).message}.`;
        this.#findings.add({ kind: "header", place: DATABASE_FILE, row: "page 1", message });
        return undefined;
      }
      throw toDatabaseError(error, { path: file, outcome: "none" });
    }
  }
}

function assertOurs(connection: Connection, file: string): void {
  const id = Number(connection.prepare("PRAGMA application_id").get()?.application_id);
  const names = connection.prepare("SELECT name FROM sqlite_schema").all();
  if (id === 0 && names.length === 0)
    throw new HoldfastError("DAMAGED", "the database holds no table, as one that was never finished or lost its log");
  if (id !== APPLICATION_ID && !names.some(({ name }) => name === "holdfast")) throw foreign(file);
  assertFormat(connection, file, FORMATS);
}
