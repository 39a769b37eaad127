/**
 * @typedef {object} Figure
 * @property {string} name
 * @property {number} value
 * @property {string} unit
 * @property {number} [atLeast] - the bar
 * @property {number} [atMost] - the bar
 * @property {string} [note]
 */

/** A figure without a bar is for information: neither passed nor missed. */
export function isMissed({ value, atLeast, atMost }) {
  return (atLeast !== undefined && !(value >= atLeast)) || (atMost !== undefined && !(value <= atMost));
}

export function hasBar({ atLeast, atMost }) {
  return atLeast !== undefined || atMost !== undefined;
}

/** One line: name, value, bar and verdict. */
export function lineOf(figure) {
  const value = `${round(figure.value)} ${figure.unit}`;
  const verdict = hasBar(figure) ? (isMissed(figure) ? "MISSED" : "ok") : "";
  const note = figure.note === undefined ? "" : `  (${figure.note})`;
  return `  ${figure.name.padEnd(58)} ${value.padStart(16)}  ${barOf(figure).padEnd(8)} ${verdict}${note}`.trimEnd();
}

function barOf({ atLeast, atMost }) {
  if (atLeast !== undefined) return `>= ${atLeast}`;
  return atMost === undefined ? "" : `<= ${atMost}`;
}

function round(value) {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
