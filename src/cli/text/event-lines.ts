import type { MemoryEvent, PropertyValues } from "../../index.ts";
import { bold, dim, type Output } from "../output.ts";
import { toPrintableLine, toPrintableText } from "./printable.ts";
import { formatMinute } from "./quantities.ts";
import { wrapText } from "./width.ts";

/** An event as people read it: who and when, what was said, and under it where it belongs. */
export function renderEvent(event: MemoryEvent, output: Output): string {
  const who = toPrintableLine(event.producer ?? event.role ?? "someone");
  const text = wrapText(toPrintableText(event.text), output.columns - 4).map((line) => `    ${line}`.trimEnd());
  const origin = wrapText(toPrintableLine(originOf(event)), output.columns - 4).map((line) =>
    dim(output, `    ${line}`),
  );
  return `${[`${bold(output, who)}, ${formatMinute(event.at)} UTC`, ...text, ...origin].join("\n")}\n`;
}

function originOf({ session, user, id, kind, revision, properties }: MemoryEvent): string {
  const parts = [
    `session ${session}${user === undefined ? "" : ` (${user})`}`,
    `event ${id}`,
    ...(kind === undefined ? [] : [`kind ${kind}`]),
    ...(revision === 1 ? [] : [`revision ${revision}`]),
    ...propertyTexts(properties),
  ];
  return parts.join(" · ");
}

/** `topic = 'home'`, as a filter would ask for it. */
export function propertyTexts(properties: PropertyValues): readonly string[] {
  return Object.entries(properties).map(([key, value]) => {
    const shown = typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
    return `m.${/^[\p{L}_][\p{L}\p{Nd}_]*$/u.test(key) ? key : `"${key.replaceAll('"', '""')}"`} = ${shown}`;
  });
}
