import { createHash } from "node:crypto";
import { HoldfastError } from "../errors/index.ts";

export interface QueryCacheOptions {
  /** Bytes that all entries may take; default 8 MiB, about 4,600 vectors of 384 dimensions. */
  readonly bytesMax?: number;
}

/** Whose query it is: entries of two tenants or two spaces never meet. */
export interface QueryCacheKey {
  readonly tenant: string;
  readonly space: string;
  readonly text: string;
}

const BYTES_MAX = 8 * 1024 * 1024;

/** No tenant holds more than this part of the cache, so that a busy one cannot empty it for the others. */
const TENANT_SHARE = 1 / 8;

/** Key, map slots and object headers of one entry, as seen in heap snapshots. */
const ENTRY_OVERHEAD_BYTES = 256;

interface Entry {
  readonly tenant: string;
  readonly vector: Float32Array;
}

/**
 * Query embeddings in memory, least recently used out first. A hit answers faster than a miss, so the
 * tenant is part of the key (O3b): how fast a query is answered tells nothing of what another tenant
 * asked. Texts are kept as digests alone.
 */
export class QueryCache {
  readonly #bytesMax: number;
  // Maps and sets answer in insertion order: the first entry is the one used longest ago.
  readonly #entries = new Map<string, Entry>();
  readonly #tenants = new Map<string, { readonly keys: Set<string>; bytes: number }>();
  #bytes = 0;

  constructor(options: QueryCacheOptions = {}) {
    const { bytesMax = BYTES_MAX } = options;
    if (!Number.isSafeInteger(bytesMax) || bytesMax < 0) {
      throw new HoldfastError("INVALID_ARGUMENT", "bytesMax of the query cache must be a whole number of at least 0.");
    }
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** A copy of the vector that was set under exactly this tenant, space and text. */
  get(key: QueryCacheKey): Float32Array | undefined {
    const digest = digestOf(key);
    const entry = this.#entries.get(digest);
    if (entry === undefined) return undefined;
    this.#remove(digest);
    this.#add(digest, entry);
    return entry.vector.slice();
  }

  /** Keeps a copy of `vector`; one that is larger than a tenant's share is not kept. */
  set(key: QueryCacheKey, vector: Float32Array): void {
    const entry = { tenant: key.tenant, vector: vector.slice() };
    const tenantBytesMax = this.#bytesMax * TENANT_SHARE;
    const digest = digestOf(key);
    this.#remove(digest);
    if (bytesOf(entry) > tenantBytesMax) return;
    while ((this.#tenants.get(key.tenant)?.bytes ?? 0) + bytesOf(entry) > tenantBytesMax) {
      this.#removeOldest(this.#tenants.get(key.tenant)?.keys.values());
    }
    while (this.#bytes + bytesOf(entry) > this.#bytesMax) this.#removeOldest(this.#entries.keys());
    this.#add(digest, entry);
  }

  /** Drops every entry of a tenant: part of deleting it (E14). */
  forget(tenant: string): void {
    for (const digest of [...(this.#tenants.get(tenant)?.keys ?? [])]) this.#remove(digest);
  }

  clear(): void {
    this.#entries.clear();
    this.#tenants.clear();
    this.#bytes = 0;
  }

  #add(digest: string, entry: Entry): void {
    const tenant = this.#tenants.get(entry.tenant) ?? { keys: new Set<string>(), bytes: 0 };
    tenant.keys.add(digest);
    tenant.bytes += bytesOf(entry);
    this.#tenants.set(entry.tenant, tenant);
    this.#entries.set(digest, entry);
    this.#bytes += bytesOf(entry);
  }

  #removeOldest(digests: Iterator<string> | undefined): void {
    const oldest = digests?.next();
    if (oldest !== undefined && oldest.done !== true) this.#remove(oldest.value);
  }

  #remove(digest: string): void {
    const entry = this.#entries.get(digest);
    if (entry === undefined) return;
    this.#entries.delete(digest);
    this.#bytes -= bytesOf(entry);
    const tenant = this.#tenants.get(entry.tenant);
    if (tenant === undefined) return;
    tenant.keys.delete(digest);
    tenant.bytes -= bytesOf(entry);
    if (tenant.keys.size === 0) this.#tenants.delete(entry.tenant);
  }
}

/** Lengths go before the parts, so that no two keys run together into one text. */
function digestOf({ tenant, space, text }: QueryCacheKey): string {
  return createHash("sha256")
    .update(`${tenant.length}:${tenant}${space.length}:${space}${text}`, "utf8")
    .digest("base64");
}

function bytesOf(entry: Entry): number {
  return entry.vector.byteLength + ENTRY_OVERHEAD_BYTES;
}
