import { dirname } from "node:path";
import type { BackupOptions, BackupReceipt } from "../contract/backup.ts";
import { formatDatetime } from "../contract/datetime.ts";
import { assertId } from "../contract/names.ts";
import { assertOptions, assertScope, CALL_OPTIONS, WRITE_OPTIONS } from "../contract/option-names.ts";
import type { CallOptions, WriteOptions } from "../contract/store.ts";
import { backupDatabase } from "../database/backup.ts";
import { withDeadline } from "../database/call.ts";
import { CLOSE_WAIT_MS } from "../database/database.ts";
import { HoldfastError } from "../errors/index.ts";
import { systemClock } from "../io/clock.ts";
import { sizeOf } from "../io/disk.ts";
import { InputDigest } from "../registry/input-digest.ts";
import { keyedCall } from "../registry/keyed-call.ts";
import type {
  ArchiveSource,
  ExportArchiveOptions,
  ImportArchiveOptions,
  ImportArchiveReceipt,
} from "./archive-contract.ts";
import { exportArchive } from "./archive-export.ts";
import { ArchiveImport } from "./archive-import.ts";
import type { CreatedTenant, DeletionOptions, DeletionReceipt, Memory, Tenant, TenantInfo } from "./contract.ts";
import type { MemoryCore } from "./core.ts";
import type { FillDeclaredOptions } from "./declared-contract.ts";
import type { FolderStats } from "./folder-contract.ts";
import { keptBytesOf, readFolderStats } from "./folder-stats.ts";
import { Forgetting } from "./forgetting.ts";
import {
  DELETION_OPTIONS,
  EXPORT_ARCHIVE_OPTIONS,
  FILL_DECLARED_OPTIONS,
  IMPORT_ARCHIVE_OPTIONS,
  LIST_TENANTS_OPTIONS,
} from "./options.ts";
import { assertPageSize, TenantHandle } from "./tenant.ts";
import { createTenantRow, findTenantRow, listTenantRows, type TenantLife } from "./tenants.ts";

export const TENANT_BYTES = 512;
const DEFAULT_PAGE = 100;

/** A folder's memory: the default tenant's, the way to the others, and the end. */
export class MemoryHandle extends TenantHandle implements Memory {
  readonly #release: (withinMs: number) => Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(core: MemoryCore, tenant: TenantLife, release: (withinMs: number) => Promise<void>) {
    super(core, tenant);
    this.#release = release;
  }

  async createTenant(id: string, options: WriteOptions = {}): Promise<CreatedTenant> {
    this.core.assertWritable();
    assertOptions(options, WRITE_OPTIONS, "createTenant");
    assertId(id, "tenant id");
    const keyed = keyedCall(options, this.core.database, () => new InputDigest("createTenant").add(id).end());
    const call = { ...options, sizeBytes: TENANT_BYTES };
    const { life, created } = await this.core.database.write(createTenantRow, { id, keyed }, call);
    return new CreatedTenantHandle(this.core, life, created);
  }

  async tenant(id: string): Promise<Tenant> {
    const tenant = await this.getTenant(id);
    if (tenant !== undefined) return tenant;
    const message = `There is no tenant ${JSON.stringify(id)}; create it first, or list the tenants to see which there are.`;
    throw new HoldfastError("NOT_FOUND", message, { details: { tenant: id } });
  }

  async getTenant(id: string): Promise<Tenant | undefined> {
    this.core.assertOpen();
    assertId(id, "tenant id");
    const life = this.core.database.lookup(findTenantRow, id);
    return life && new TenantHandle(this.core, life);
  }

  async listTenants(
    options: { readonly after?: string; readonly limit?: number } & CallOptions = {},
  ): Promise<readonly TenantInfo[]> {
    this.core.assertOpen();
    assertOptions(options, LIST_TENANTS_OPTIONS, "listTenants");
    const { after = "", limit = DEFAULT_PAGE, ...call } = options;
    if (options.after !== undefined) assertId(after, "tenant id to list behind");
    assertPageSize(limit);
    const rows = await this.core.database.read(listTenantRows, { after, limit }, call);
    return rows.map(({ id, segments, createdAt }) => ({ id, segments, createdAt: formatDatetime(createdAt) }));
  }

  async deleteTenant(id: string, options: DeletionOptions = {}): Promise<DeletionReceipt> {
    assertOptions(options, DELETION_OPTIONS, "deleteTenant");
    return new Forgetting(this.core).deleteTenant(id, options);
  }

  async fillDeclared(options: FillDeclaredOptions = {}): Promise<void> {
    this.core.assertWritable();
    assertOptions(options, FILL_DECLARED_OPTIONS, "fillDeclared");
    const { onProgress, ...call } = options;
    let segments = 0;
    const fill = this.core.filler.finish(withDeadline(call, "write"), (step) => {
      segments += step.segments;
      onProgress?.({ segments });
    });
    await this.core.track(fill);
  }

  async backup(target: string, options: BackupOptions = {}): Promise<BackupReceipt> {
    this.core.assertOpen();
    return this.core.track(backupDatabase(this.core.database, target, options));
  }

  async folderStats(options: CallOptions = {}): Promise<FolderStats> {
    this.core.assertOpen();
    assertOptions(options, CALL_OPTIONS, "folderStats");
    const { settings } = this.core.database;
    const { bytes, createdAt, ...row } = await this.core.database.readAside(readFolderStats, null, options);
    const log = settings.inMemory ? 0 : sizeOf(`${settings.path}-wal`);
    const kept = settings.inMemory ? 0 : keptBytesOf(dirname(settings.path));
    return { path: settings.path, ...row, createdAt: formatDatetime(createdAt), bytes: { ...bytes, log, kept } };
  }

  exportArchive(options: ExportArchiveOptions = {}): AsyncIterable<string> {
    this.core.assertOpen();
    assertOptions(options, EXPORT_ARCHIVE_OPTIONS, "exportArchive");
    assertScope(options, "tenant");
    if (options.tenant !== undefined) assertId(options.tenant, "tenant id");
    return exportArchive(this.core, options);
  }

  async importArchive(source: ArchiveSource, options: ImportArchiveOptions = {}): Promise<ImportArchiveReceipt> {
    this.core.assertWritable();
    assertOptions(options, IMPORT_ARCHIVE_OPTIONS, "importArchive");
    assertScope(options, "as");
    if (options.as !== undefined) assertId(options.as, "tenant id");
    assertSource(source);
    const run = new ArchiveImport(this.core, options).run(source, this.tenantId);
    const { receipt, own } = await this.core.track(run);
    // Empty, it gave way to the archive's: this handle goes on with that one.
    if (own !== undefined) Object.assign(this.life, own);
    return receipt;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const untilMs = systemClock.monotonicMs() + CLOSE_WAIT_MS;
    await this.core.close();
    await this.#release(Math.max(0, untilMs - systemClock.monotonicMs()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

class CreatedTenantHandle extends TenantHandle implements CreatedTenant {
  readonly created: boolean;

  constructor(core: MemoryCore, life: TenantLife, created: boolean) {
    super(core, life);
    this.created = created;
  }
}

function assertSource(source: unknown): asserts source is ArchiveSource {
  const iterable = source as { readonly [Symbol.asyncIterator]?: unknown } | null | undefined;
  if (typeof source === "function" || typeof iterable?.[Symbol.asyncIterator] === "function") return;
  const message =
    "An archive is a stream of its bytes, or a function that opens one, such as () => createReadStream(file).";
  throw new HoldfastError("INVALID_ARGUMENT", message);
}
