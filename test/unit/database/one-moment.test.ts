import { join } from "node:path";
import { expect, it } from "vitest";
import { databasePlan, type Operation, readOperation } from "../../../src/database/operation.ts";
import { Reader } from "../../../src/database/reader.ts";
import { neverCancelled } from "../../../src/io/cancellation.ts";
import { systemClock } from "../../../src/io/clock.ts";
import { NOTES_PLAN, notesIn, openPrepared, settingsFor, temporaryFolder } from "./connections.ts";

it("[Q9] a read sees one moment, whatever is committed between two of its statements", () => {
  const path = join(temporaryFolder(), "holdfast.db");
  const writer = openPrepared(path);
  const readTwice = readOperation("test.read-twice", ({ connection }) => {
    const first = notesIn(connection);
    writer.exec("INSERT INTO notes (text) VALUES ('committed between')");
    return [first, notesIn(connection)];
  });
  const plan = databasePlan(NOTES_PLAN.schema, [...NOTES_PLAN.operations.values(), readTwice] as readonly Operation[]);
  const reader = new Reader(openPrepared(path), plan, settingsFor(path), systemClock);
  expect(reader.run(readTwice.name, null, neverCancelled)).toEqual([[], []]);
  expect(notesIn(writer)).toEqual(["committed between"]);
  expect(reader.run(readTwice.name, null, neverCancelled)).toEqual([["committed between"], ["committed between"]]);
  reader.close();
  writer.close();
});
