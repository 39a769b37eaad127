import { applyOperation, emptyModel } from "./model.js";

/** What lines of acknowledgements promise: the model of what was answered, and the call that was not. */
export function modelOf(text) {
  const model = emptyModel();
  let under;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const { begun, answered } = JSON.parse(line);
    if (begun !== undefined) under = begun;
    if (answered === undefined) continue;
    applyOperation(model, under);
    under = undefined;
  }
  return { model, under };
}
