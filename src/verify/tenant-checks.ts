import { currentSpace } from "../embedding/spaces.ts";
import { isHoldfastError } from "../errors/index.ts";
import { declaredKeys } from "../memory/declared-keys.ts";
import { segmentOfVector } from "../memory/derivatives.ts";
import { partitionKey } from "../memory/tenants.ts";
import { tenantLookup } from "./stored-tenants.ts";
import { overRanges } from "./structure-checks.ts";
import type { Check, Steps, Verification } from "./verification.ts";

/** Tenants and sessions: their counts, their storage, and that nothing of theirs belongs to nobody. */
export const tenantChecks: Check = {
  stage: "tenants",
  *run(verification) {
    yield* checkTenants(verification);
    yield* checkSessions(verification);
    yield* checkVectorOwners(verification);
    yield* checkReferences(verification);
    yield;
    try {
      declaredKeys(verification.connection);
    } catch (error) {
      if (!isHoldfastError(error, "DAMAGED")) throw error;
      verification.report("tenant", "declared_keys", undefined, "The table of declared properties is damaged.");
    }
  },
};

const TENANTS = {
  table: "tenants",
  sql: "SELECT tenant AS key, documents, tokens, storage_space, changes FROM tenants WHERE tenant > ? ORDER BY tenant",
  seek: "SELECT min(tenant) AS key FROM tenants WHERE tenant >= ?",
};

function* checkTenants(verification: Verification): Steps {
  const { connection } = verification;
  const space = currentSpace(connection);
  const count = (sql: string, tenant: number): number => Number(connection.prepare(sql).get(tenant)?.count ?? 0);
  for (const row of verification.walk(TENANTS)) {
    verification.counts.tenants += 1;
    yield;
    const tenant = Number(row.key);
    verification.attempt("tenants", tenant, () => {
      const counts: readonly (readonly [string, number, number])[] = [
        ["segments", Number(row.documents), count("SELECT count(*) AS count FROM segments WHERE tenant = ?", tenant)],
        [
          "words",
          Number(row.tokens),
          count("SELECT sum(tokens) AS count FROM segment_lengths WHERE tenant = ?", tenant),
        ],
        ["changes", Number(row.changes), count("SELECT count(*) AS count FROM changes WHERE tenant = ?", tenant)],
      ];
      for (const [what, counted, there] of counts)
        if (counted !== there)
          verification.report(
            "tenant-count",
            "tenants",
            tenant,
            `The tenant counts ${counted} ${what}; ${there} are there.`,
          );
    });
    if (space === undefined || Number(row.storage_space ?? 0) !== space.space) continue;
    const life = connection.prepare("SELECT 1 AS found FROM partitions WHERE store = ? AND key = ?");
    if (life.get(space.store, partitionKey({ tenant })) === undefined)
      verification.report("tenant", "tenants", tenant, "The partition that holds the tenant's vectors is gone.");
  }
}

const SESSIONS = {
  table: "sessions",
  sql: "SELECT session AS key, tenant, id FROM sessions WHERE session > ? ORDER BY session",
  seek: "SELECT min(session) AS key FROM sessions WHERE session >= ?",
};

function* checkSessions(verification: Verification): Steps {
  const tenants = tenantLookup(verification.connection);
  const byId = verification.connection.prepare("SELECT session FROM sessions WHERE tenant = ? AND id = ?");
  for (const row of verification.walk(SESSIONS)) {
    verification.counts.sessions += 1;
    yield;
    const session = Number(row.key);
    if (tenants.stateOf(Number(row.tenant)) === "missing")
      verification.report("session", "sessions", session, `The session's tenant ${row.tenant} is not there.`);
    const found = verification.attempt(
      "sessions",
      session,
      () => byId.get(Number(row.tenant), String(row.id))?.session,
    );
    if (Number(found) !== session)
      verification.report("index", "sessions", session, "The session is not found by its id.");
  }
}

/** Vectors of the memory belong to a segment of their tenant that counts them. */
function* checkVectorOwners(verification: Verification): Steps {
  const { connection } = verification;
  const space = currentSpace(connection);
  if (space === undefined) return;
  const table = `records_${space.store}`;
  const segment = connection.prepare("SELECT tenant, vectors FROM segments WHERE segment = ?");
  const lives = new Map(
    connection
      .prepare("SELECT partition, key FROM partitions WHERE store = ?")
      .all(space.store)
      .map(({ partition, key }) => [Number(partition), String(key)]),
  );
  const walk = {
    table,
    sql: `SELECT row AS key, partition, id FROM ${table} WHERE row > ? ORDER BY row`,
    seek: `SELECT min(row) AS key FROM ${table} WHERE row >= ?`,
  };
  for (const row of verification.walk(walk)) {
    yield;
    const key = lives.get(Number(row.partition));
    // Of an ended life: on its way out.
    if (key === undefined) continue;
    const id = String(row.id);
    const [, place = "0"] = id.split(".");
    const owner = verification.attempt(table, Number(row.key), () => segment.get(segmentOfVector(id)));
    const isOwned =
      owner !== undefined &&
      partitionKey({ tenant: Number(owner.tenant) }) === key &&
      Number(place) < Number(owner.vectors);
    if (!isOwned)
      verification.report(
        "orphan-record",
        table,
        `${row.key}`,
        `The vector ${id} belongs to no segment of its tenant.`,
      );
  }
}

interface Reference {
  readonly kind: "pending" | "summary" | "changes" | "reference";
  readonly table: string;
  readonly key: string;
  /** Answers the keys of rows in `[?, ?)` that name what is not there. */
  readonly sql: string;
  readonly message: string;
}

const REFERENCES: readonly Reference[] = [
  {
    kind: "pending",
    table: "pending_vectors",
    key: "segment",
    sql: `SELECT p.segment AS key FROM pending_vectors AS p LEFT JOIN segments AS s ON s.segment = p.segment AND s.tenant = p.tenant
      WHERE p.segment >= ? AND p.segment < ? AND s.segment IS NULL AND p.tenant NOT IN (SELECT tenant FROM ended_tenants)`,
    message: "A segment that is not there is to be embedded.",
  },
  {
    kind: "summary",
    table: "summaries",
    key: "session",
    sql: `SELECT u.session AS key FROM summaries AS u LEFT JOIN sessions AS n ON n.session = u.session AND n.tenant = u.tenant
      LEFT JOIN events AS e ON e.event = u.to_event AND e.session = u.session AND e.at = u.to_at
      WHERE u.session >= ? AND u.session < ? AND (n.session IS NULL OR e.event IS NULL) AND u.tenant NOT IN (SELECT tenant FROM ended_tenants)`,
    message: "The summary's session, or the last event that it covers, is not there.",
  },
  {
    kind: "changes",
    table: "changes",
    key: "sequence",
    sql: `SELECT sequence AS key FROM changes WHERE sequence >= ? AND sequence < ?
      AND tenant NOT IN (SELECT tenant FROM tenants UNION ALL SELECT tenant FROM ended_tenants)`,
    message: "The change belongs to no tenant.",
  },
];

function* checkReferences(verification: Verification): Steps {
  for (const { kind, table, key, sql, message } of REFERENCES) {
    const select = verification.connection.prepare(sql);
    yield* overRanges(verification, { table, key }, (from, to) => {
      for (const row of select.iterate(from, to)) verification.report(kind, table, `${row.key}`, message);
    });
  }
}
