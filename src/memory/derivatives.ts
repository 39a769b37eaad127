/**
 * Ids of the vectors of a segment: what is embedded of it may be several texts. The first has the segment's number
 * alone, so that a segment's plain vector is found by it.
 */
export function vectorId(segment: number, place: number): string {
  return place === 0 ? String(segment) : `${segment}.${place}`;
}

/** The segment that a vector belongs to. */
export function segmentOfVector(id: string): number {
  return Number.parseInt(id, 10);
}

/** The best hit of each segment, in the order of the hits, which is best first. */
export function bestPerSegment<Hit extends { readonly id: string }>(hits: readonly Hit[]): readonly Hit[] {
  const seen = new Set<number>();
  return hits.filter(({ id }) => {
    const segment = segmentOfVector(id);
    if (seen.has(segment)) return false;
    seen.add(segment);
    return true;
  });
}
