import { join } from "node:path";
import { PAGE_SIZE_BYTES } from "../database/format.ts";
import { DATABASE_FILE } from "../database/open-files.ts";
import type { DatabasePlan } from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import { exists } from "../io/disk.ts";
import { LineFile } from "../io/line-file.ts";
import { PageFile } from "../io/page-file.ts";
import { committedPages } from "../io/raw-database.ts";
import { makeOwnFolder, writePages } from "../io/repair-files.ts";
import { cloneFile, removePath, stampOf, syncFile } from "../io/whole-files.ts";
import { REPAIR_FOLDER } from "../verify/file-checks.ts";
import type { Finding } from "../verify/findings.ts";
import { FolderCheck } from "../verify/folder-check.ts";
import type { SteppedJob } from "../verify/stepped-job.ts";
import type { Steps } from "../verify/verification.ts";
import type { MaintenanceProgress, VerifyReport } from "../verify/verify-contract.ts";
import { Ledger } from "./ledger.ts";
import { holdWork, inUse, letGo, takeAlone } from "./locked-folder.ts";
import { rebuildEvents } from "./rebuild-events.ts";
import { rebuildRegistry } from "./rebuild-registry.ts";
import { rebuildRest } from "./rebuild-rest.ts";
import { rebuildTenants } from "./rebuild-tenants.ts";
import type { RepairReport } from "./repair-contract.ts";
import { Salvage } from "./salvage.ts";
import { Staging } from "./staging.ts";
import { placing, undoInterrupted } from "./swap.ts";
import { Target } from "./target.ts";

/** What a repair is told; plain data, so that it can run in a thread. */
export interface RepairSettings {
  readonly folder: string;
  readonly dryRun: boolean;
  readonly force: boolean;
  /** What was found before the database was opened. */
  readonly found: readonly Finding[];
}

const FINDINGS_MAX = 1_000;
const DEEP_BUDGET_BYTES = 1 << 20;

const STAGES = 9;

/** What is opened on the way and closed at its end, whatever happens. */
class Held {
  readonly #closings: (() => void)[] = [];

  add<T>(thing: T, close: (thing: T) => void): T {
    this.#closings.push(() => close(thing));
    return thing;
  }

  close(): void {
    for (const close of this.#closings.splice(0).reverse()) close();
  }
}

interface Making {
  readonly before: VerifyReport;
  readonly source: PageFile;
  /** Whether the database is held alone, without a log. */
  readonly isHeld: boolean;
  readonly state: string;
}

/**
 * Makes a whole database of what can be read from a damaged one, beside it, proves it, and gives it its place in one rename.
 * Until then the folder is what it was; a repair that was ended is begun anew.
 */
export class RepairJob implements SteppedJob<RepairReport> {
  readonly #settings: RepairSettings;
  readonly #plan: DatabasePlan;
  readonly #file: string;
  readonly #work: string;
  #stage = "verify";
  #stagesDone = 0;
  #rows: () => number = () => 0;
  #report: RepairReport | undefined;
  #isReplaced = false;

  constructor(settings: RepairSettings, plan: DatabasePlan) {
    this.#settings = settings;
    this.#plan = plan;
    this.#file = join(settings.folder, DATABASE_FILE);
    this.#work = join(settings.folder, REPAIR_FOLDER);
  }

  get progress(): MaintenanceProgress {
    return { stage: this.#stage, stagesDone: this.#stagesDone, stages: STAGES, rows: this.#rows() };
  }

  result(): RepairReport {
    if (this.#report === undefined) throw new HoldfastError("BUG", "A repair has ended without a report.");
    return this.#report;
  }

  *steps(): Steps {
    const before = yield* this.#verify(this.#file, this.#settings.found);
    const { dryRun, force } = this.#settings;
    if (before.ok && !force) {
      this.#report = { complete: true, outcome: "whole", path: this.#file, tables: [], notes: [], before };
      return;
    }
    const held = new Held();
    try {
      this.#begin(held);
      // Opened before the lock and closed behind it: closing a descriptor drops the lock.
      const file = held.add(new PageFile(this.#file, PAGE_SIZE_BYTES), (one) => one.close());
      const database = dryRun ? undefined : takeAlone(this.#file);
      if (database !== undefined) held.add(database, (one) => letGo(one, this.#isReplaced));
      const state = this.#stateOfFiles();
      const source = database === undefined ? held.add(this.#copy(), (copy) => copy.close()) : file;
      yield* this.#make(held, { before, source, isHeld: database !== undefined, state });
    } finally {
      held.close();
    }
  }

  *#verify(file: string, found: readonly Finding[]): Generator<void, VerifyReport> {
    const settings = { file, found, deep: false, maxFindings: FINDINGS_MAX, memoryBudgetBytes: DEEP_BUDGET_BYTES };
    const check = new FolderCheck(settings, this.#plan.schema);
    this.#rows = () => check.progress.rows;
    yield* check.steps();
    return check.result();
  }

  /** Takes the folder in which the repair works; what an interrupted one left there goes. */
  #begin(held: Held): void {
    if (exists(this.#work)) {
      holdWork(this.#work).close();
      removePath(this.#work);
    }
    makeOwnFolder(this.#work);
    held.add(this.#work, removePath);
    held.add(holdWork(this.#work), (lock) => lock.close());
    undoInterrupted(this.#settings.folder);
  }

  *#make(held: Held, { before, source, isHeld, state }: Making): Steps {
    const rows = held.add(new LineFile(join(this.#work, "rows.jsonl")), (file) => file.close());
    const ledger = new Ledger(rows);
    const made = join(this.#work, DATABASE_FILE);
    const isTold = yield* this.#rebuild(source, ledger, made);
    this.#enter("proof");
    const after = yield* this.#verify(made, []);
    if (!after.ok) throw unproven(after);
    const complete = isTold && ledger.isComplete && !isLossUnknown(before);
    const { tables, notes } = ledger;
    const report = { complete, path: this.#file, tables, notes, before, after };
    if (this.#stateOfFiles() !== state) throw inUse(this.#file);
    if (this.#settings.dryRun) {
      this.#report = { ...report, outcome: "dry-run" };
      return;
    }
    this.#enter("swap");
    yield;
    syncFile(made);
    rows.close();
    const keptIn = atOnce(placing(this.#settings.folder, this.#work, isHeld));
    this.#isReplaced = true;
    this.#report = { ...report, outcome: "repaired", keptIn };
  }

  /** Answers whether everything that is missing is told. */
  *#rebuild(source: PageFile, ledger: Ledger, made: string): Generator<void, boolean> {
    const held = new Held();
    try {
      const staging = held.add(new Staging(join(this.#work, "staging.db")), (one) => one.close());
      const salvage = new Salvage(source, this.#plan.schema, { staging, ledger });
      this.#rows = () => salvage.rows;
      this.#enter("salvage");
      yield* salvage.steps();
      const target = held.add(new Target(made, this.#plan), (one) => one.close());
      const { stores, damaged } = salvage;
      const all = { staging, target, ledger, stores, damaged, tenants: new Map(), ended: new Set<number>() };
      for (const [stage, run] of PARTS) {
        this.#enter(stage);
        yield* run(all);
      }
      target.finish();
      return salvage.untold.size === 0;
    } finally {
      held.close();
    }
  }

  /** A copy with what its log committed, where nobody can be kept from writing, or SQLite cannot open the file. */
  #copy(): PageFile {
    const copy = join(this.#work, "source.db");
    cloneFile(this.#file, copy);
    writePages(copy, PAGE_SIZE_BYTES, committedPages(`${this.#file}-wal`));
    return new PageFile(copy, PAGE_SIZE_BYTES);
  }

  #stateOfFiles(): string {
    return `${stampOf(this.#file)} ${stampOf(`${this.#file}-wal`)}`;
  }

  #enter(stage: string): void {
    this.#stage = stage;
    this.#stagesDone += 1;
  }
}

const PARTS = [
  ["stores", rebuildRegistry],
  ["tenants", rebuildTenants],
  ["events", rebuildEvents],
  ["changes", rebuildRest],
] as const;

function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** What no page that is left names. */
function isLossUnknown({ totals }: VerifyReport): boolean {
  return (["log-missing", "log-damaged", "empty-database"] as const).some((kind) => totals[kind] !== undefined);
}

function unproven({ findings, totals }: VerifyReport): HoldfastError {
  const [first] = findings;
  const message = `What the repair made did not prove whole (${first?.kind ?? "?"} in ${first?.place ?? "?"}), so that nothing was replaced; please report it.`;
  return new HoldfastError("DAMAGED", message, { outcome: "not-applied", details: { kinds: Object.keys(totals) } });
}
