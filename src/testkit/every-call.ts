import type { Partition, Store } from "../contract/store.ts";

/** A call by name, made when asked for. */
export type NamedCall = readonly [name: string, call: () => Promise<unknown>];

/** Every method of a partition, those that have nothing to do with them: what a guard must stand before. */
export function everyPartitionCall(partition: Partition): readonly NamedCall[] {
  const vector = Float32Array.from([1, 0, 0]);
  return [
    ["upsert", () => partition.upsert([{ id: "x", vector }])],
    ["upsert of nothing", () => partition.upsert([])],
    ["patch", () => partition.patch("x", {})],
    ["get", () => partition.get(["x"])],
    ["get of many", () => partition.get(Array.from({ length: 200 }, (_, index) => `x${index}`))],
    ["get of nothing", () => partition.get([])],
    ["delete by ids", () => partition.delete({ ids: ["x"] })],
    ["delete of nothing", () => partition.delete({ ids: [] })],
    ["delete by filter", () => partition.delete({ where: "FALSE" })],
    ["dry run by ids", () => partition.delete({ ids: ["x"] }, { dryRun: true })],
    ["dry run by filter", () => partition.delete({ where: "FALSE" }, { dryRun: true })],
    ["count", () => partition.count()],
    ["count of none", () => partition.count({ where: "FALSE" })],
    ["scan", () => partition.scan().next()],
    ["scan of none", () => partition.scan({ where: "FALSE" }).next()],
    ["query", () => partition.query({ vector })],
    ["query for nothing", () => partition.query({ vector, limit: 0 })],
    ["query of none", () => partition.query({ vector, where: "FALSE" })],
    ["queryMany", () => partition.queryMany({ vectors: [vector] })],
    ["queryMany of nothing", () => partition.queryMany({ vectors: [] })],
    ["score", () => partition.score(vector, ["x"])],
    ["score of nothing", () => partition.score(vector, [])],
  ];
}

/** Every method of a store but `close`. */
export function everyStoreCall(store: Store): readonly NamedCall[] {
  return [
    ["createPartition", () => store.createPartition("other")],
    ["getPartition", () => store.getPartition("other")],
    ["listPartitions", () => store.listPartitions()],
    ["deletePartition", () => store.deletePartition("other")],
    ["deletePartition with erase", () => store.deletePartition("other", { erase: true })],
  ];
}
