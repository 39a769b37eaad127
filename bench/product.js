import { pathToFileURL } from "node:url";

/** The built package, and the parts of it that a yardstick needs (`import("database/format.js")`). */
export async function loadProduct(dist) {
  const root = pathToFileURL(`${dist}/`);
  const { openMemory, openStore } = await import(new URL("index.js", root));
  return { openMemory, openStore, part: (name) => import(new URL(name, root)) };
}
