import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "holdfast";
import type { StoreFactory } from "holdfast/testkit";

/** What one way of opening the embedded store adds. */
export interface EmbeddedWay {
  readonly threads?: "workers" | "inline";
  readonly exclusive?: boolean;
  readonly memoryBudgetBytes?: number;
}

/** A folder of its own for one test, and the path to give to `openStore`. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  return { path: join(folder, "store.holdfast"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The embedded store on disk. */
export function onDisk(name: string, way: EmbeddedWay = {}): StoreFactory {
  return {
    name,
    createPlace: async () => {
      const { path, remove } = temporaryFolder();
      return { open: (spec) => openStore({ path, ...way, ...spec }), remove: async () => remove() };
    },
  };
}

/** The embedded store without a disk: every opening is another one. */
export function inMemory(name: string): StoreFactory {
  return {
    name,
    createPlace: async () => ({
      open: (spec) => openStore({ inMemory: true, ...spec }),
      remove: async () => undefined,
    }),
  };
}
