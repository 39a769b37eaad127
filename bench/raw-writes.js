import { join } from "node:path";
import { PROPERTIES } from "./data.js";
import { loadProduct } from "./product.js";

/**
 * The yardstick of writing: the statements that a record needs, prepared once, on one connection of
 * the product's driver with its pragmas, in a folder that the product made: same tables, same unique
 * key, same indexes, same syncs. One thread, one transaction a batch, SQLite's own checkpoints. No
 * checks, no checksum, no queue.
 */
export async function openRaw(dist, folder, dimensions) {
  const { openStore, part } = await loadProduct(dist);
  const store = await openStore({ path: folder, name: "bench", dimensions, properties: PROPERTIES });
  await store.createPartition("raw");
  await store.close();
  const { openConnection } = await part("database/drivers/open-connection.js");
  const { configure } = await part("database/format.js");
  const connection = openConnection(join(folder, "holdfast.db"), { readOnly: false, mustExist: true });
  configure(connection, { exclusive: false, autoCheckpoint: true });
  const { partition, store: number } = connection.prepare("SELECT partition, store FROM partitions").get();
  return new RawWriter(connection, partition, number);
}

class RawWriter {
  #connection;
  #partition;
  #insert;
  #insertVector;
  #advance;

  constructor(connection, partition, store) {
    this.#connection = connection;
    this.#partition = partition;
    this.#insert = connection.prepare(
      `INSERT INTO records_${store} (partition, id, checksum, "p_lang", "p_year") VALUES (?, ?, ?, ?, ?)`,
    );
    this.#insertVector = connection.prepare(`INSERT INTO vectors_${store} (row, vector) VALUES (?, ?)`);
    this.#advance = connection.prepare(
      "UPDATE partitions SET position = position + 1, records = records + ?, checksum = ? WHERE partition = ?",
    );
  }

  write(records) {
    this.#connection.exec("BEGIN IMMEDIATE");
    for (const { id, vector, properties } of records) {
      const checksum = 0x9e3779b9;
      const row = this.#insert.run(this.#partition, id, checksum, properties.lang, BigInt(properties.year));
      const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
      this.#insertVector.run(row.lastInsertRowid, bytes);
    }
    this.#advance.run(records.length, 0, this.#partition);
    this.#connection.exec("COMMIT");
  }

  close() {
    this.#connection.close();
  }
}
