import type { ArchiveCounts } from "../../index.ts";
import { formatCount } from "../text/quantities.ts";

/** `2 tenants, 3 sessions, 1,200 events with 1,300 vectors`. */
export function countsText({ tenants, sessions, events, vectors }: ArchiveCounts): string {
  const counts = [counted(tenants, "tenant"), counted(sessions, "session"), counted(events, "event")];
  return `${counts.join(", ")} with ${counted(vectors, "vector")}`;
}

function counted(count: number, what: string): string {
  return `${formatCount(count)} ${what}${count === 1 ? "" : "s"}`;
}
