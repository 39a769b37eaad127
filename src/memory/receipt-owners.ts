import type { ReceiptOwner } from "../registry/receipts.ts";

/** Keys of memory calls that belong to no tenant. */
export const FOLDER_RECEIPTS: ReceiptOwner = { kind: "folder", number: 0 };

interface Lives {
  readonly tenant: { readonly tenant: number };
  readonly session?: { readonly session: number } | undefined;
}

/** A session's keys are its own; the other calls of a tenant share the tenant's. */
export function receiptOwner({ tenant: { tenant }, session }: Lives): ReceiptOwner {
  return session === undefined
    ? { kind: "tenant", number: tenant, tenant }
    : { kind: "session", number: session.session, tenant };
}
