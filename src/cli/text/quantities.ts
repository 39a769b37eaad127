/** `5,882` */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 event`, `5,882 events` */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `12.3 MiB` */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** `48 s`, `3 min 05 s`, `2 h 10 min` */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** `2024-05-01 13:20` of an instant as the memory writes it: to the minute, in UTC. */
export function formatMinute(instant: string): string {
  return instant.slice(0, 16).replace("T", " ");
}
