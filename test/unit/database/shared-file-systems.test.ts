import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { exists } from "../../../src/io/disk.ts";
import { openStore } from "../../../src/open-store.ts";
import { temporaryFolder } from "./connections.ts";

vi.mock("../../../src/io/disk.ts", async (original) => ({
  ...(await original<object>()),
  sharedFileSystemOf: () => "NFS",
}));

it("[E5] a folder on a network file system is refused unless one process has it alone", async () => {
  const path = join(temporaryFolder(), "store.holdfast");
  const place = { path, threads: "inline", name: "docs", dimensions: 3 } as const;
  await expect(openStore(place)).rejects.toMatchObject({
    code: "UNSUPPORTED_FILESYSTEM",
    details: { fileSystem: "NFS" },
  });
  expect(exists(join(path, "holdfast.db"))).toBe(false);
  const store = await openStore({ ...place, exclusive: true });
  await store.createPartition("main");
  await store.close();
});
