import { SeededRandom } from "holdfast/testkit";

/** The vector of one version of a record: no two are alike, so that one that answers for another is seen. */
export function keptVector(id, version) {
  return new SeededRandom(Number(id.slice(1)) * 2_654_435_761 + version).vector(16);
}
