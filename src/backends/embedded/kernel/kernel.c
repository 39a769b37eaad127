/*
 * The vector kernel: float32 rows, float64 arithmetic, one fixed lane order. (estimate_rows alone
 * adds in float32; no score comes from it.)
 *
 * Element i of a row is added to lane i mod 4, in the order of i; the lanes are
 * then summed as (l0 + l2) + (l1 + l3). Every lane starts at +0, so no lane is
 * ever -0. A product of two float32 values is exact in float64: only the
 * additions round. kernel-fallback.ts does the same steps and must answer the
 * same bits; change both or neither.
 *
 * Rules of this file:
 * - no libc, no global variables and nothing that needs a stack in memory:
 *   instances of several threads share one memory, and data or stack at a fixed
 *   address would be shared too. What a function needs it gets as an address.
 * - no -ffast-math and no contraction: the order above is the definition.
 * - rows start at multiples of 4 bytes, not of 16: loads of rows are unaligned.
 * - few values live at a time: V8 hoists all loads of a loop body to its top and
 *   spills accumulators to memory beyond 15 of them, at twice the time.
 */
#include <stdint.h>
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))

/* The lanes of one row: (l0, l1) and (l2, l3). */
typedef struct {
  v128_t low;
  v128_t high;
} lanes_t;

INLINE lanes_t no_lanes(void) {
  return (lanes_t){wasm_f64x2_const(0, 0), wasm_f64x2_const(0, 0)};
}

/* Two neighbouring float32 values as float64; exact, subnormals included. */
INLINE v128_t two(const float *row) {
  return wasm_f64x2_promote_low_f32x4(wasm_v128_load64_zero(row));
}

/* One float32 value as float64, and 0. */
INLINE v128_t one(const float *row) {
  return wasm_f64x2_promote_low_f32x4(wasm_v128_load32_zero(row));
}

INLINE v128_t add_product(v128_t sum, v128_t a, v128_t b) {
  return wasm_f64x2_add(sum, wasm_f64x2_mul(a, b));
}

INLINE lanes_t add_four(lanes_t lanes, const float *row, v128_t low, v128_t high) {
  return (lanes_t){add_product(lanes.low, two(row), low), add_product(lanes.high, two(row + 2), high)};
}

INLINE double sum_lanes(lanes_t lanes) {
  v128_t sum = wasm_f64x2_add(lanes.low, lanes.high);
  return wasm_f64x2_extract_lane(sum, 0) + wasm_f64x2_extract_lane(sum, 1);
}

/* The last 0..3 elements. A lone element's neighbour lane adds 0 * 0, which changes no lane. */
INLINE double finish(lanes_t lanes, const float *row, const double *query, uint32_t left) {
  if (left == 1) {
    lanes.low = add_product(lanes.low, one(row), wasm_v128_load64_zero(query));
  } else if (left >= 2) {
    lanes.low = add_product(lanes.low, two(row), wasm_v128_load(query));
    if (left == 3) lanes.high = add_product(lanes.high, one(row + 2), wasm_v128_load64_zero(query + 2));
  }
  return sum_lanes(lanes);
}

INLINE double dot(const float *row, const double *query, uint32_t dimensions) {
  lanes_t lanes = no_lanes();
  const double *end = query + (dimensions & ~3u);
  for (; query != end; row += 4, query += 4) {
    lanes = add_four(lanes, row, wasm_v128_load(query), wasm_v128_load(query + 2));
  }
  return finish(lanes, row, query, dimensions & 3u);
}

/* Two rows at once: they share the loads of the query, and one row alone waits for its own additions. */
INLINE void dot_pair(const float *a, const float *b, const double *query, uint32_t dimensions, double *out_a, double *out_b) {
  lanes_t lanes_a = no_lanes();
  lanes_t lanes_b = no_lanes();
  const double *end = query + (dimensions & ~3u);
  for (; query != end; a += 4, b += 4, query += 4) {
    v128_t low = wasm_v128_load(query);
    v128_t high = wasm_v128_load(query + 2);
    lanes_a = add_four(lanes_a, a, low, high);
    lanes_b = add_four(lanes_b, b, low, high);
  }
  *out_a = finish(lanes_a, a, query, dimensions & 3u);
  *out_b = finish(lanes_b, b, query, dimensions & 3u);
}

/*
 * Dot products of `query` with `count` rows that lie one after the other. The two
 * rows of a pair lie half the block apart: each half is read as one long stream.
 * Neighbouring rows in turn end a stream at each row, at three times the time.
 */
EXPORT(score_rows)
void score_rows(const float *rows, uint32_t count, uint32_t dimensions, const double *query, double *out) {
  uint32_t half = count / 2;
  const float *far = rows + half * dimensions;
  for (uint32_t i = 0; i < half; i += 1) {
    dot_pair(rows, far, query, dimensions, out + i, out + half + i);
    rows += dimensions;
    far += dimensions;
  }
  if (count & 1u) out[count - 1] = dot(far, query, dimensions);
}

/* Four rows from anywhere: more of them wait for memory at once. */
INLINE void dot_quad(const float *const rows[4], const double *query, uint32_t dimensions, double *out) {
  const float *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  lanes_t lanes_a = no_lanes(), lanes_b = no_lanes(), lanes_c = no_lanes(), lanes_d = no_lanes();
  const double *end = query + (dimensions & ~3u);
  for (; query != end; a += 4, b += 4, c += 4, d += 4, query += 4) {
    v128_t low = wasm_v128_load(query);
    v128_t high = wasm_v128_load(query + 2);
    lanes_a = add_four(lanes_a, a, low, high);
    lanes_b = add_four(lanes_b, b, low, high);
    lanes_c = add_four(lanes_c, c, low, high);
    lanes_d = add_four(lanes_d, d, low, high);
  }
  out[0] = finish(lanes_a, a, query, dimensions & 3u);
  out[1] = finish(lanes_b, b, query, dimensions & 3u);
  out[2] = finish(lanes_c, c, query, dimensions & 3u);
  out[3] = finish(lanes_d, d, query, dimensions & 3u);
}

/* Dot products of `query` with the rows that `slots` names. */
EXPORT(score_slots)
void score_slots(const float *rows, const uint32_t *slots, uint32_t count, uint32_t dimensions, const double *query, double *out) {
  uint32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const float *four[4] = {
        rows + slots[i] * dimensions,
        rows + slots[i + 1] * dimensions,
        rows + slots[i + 2] * dimensions,
        rows + slots[i + 3] * dimensions,
    };
    dot_quad(four, query, dimensions, out + i);
  }
  for (; i < count; i += 1) out[i] = dot(rows + slots[i] * dimensions, query, dimensions);
}

INLINE v128_t add_single_product(v128_t sum, v128_t a, v128_t b) {
  return wasm_f32x4_add(sum, wasm_f32x4_mul(a, b));
}

/* The last 0..7 elements come after the lanes. */
INLINE float finish_estimate(v128_t even, v128_t odd, const float *row, const float *query, uint32_t left) {
  v128_t four = wasm_f32x4_add(even, odd);
  float sum = (wasm_f32x4_extract_lane(four, 0) + wasm_f32x4_extract_lane(four, 1)) +
              (wasm_f32x4_extract_lane(four, 2) + wasm_f32x4_extract_lane(four, 3));
  for (uint32_t i = 0; i < left; i += 1) sum += row[i] * query[i];
  return sum;
}

/*
 * Dot products as score_rows has them, in float32 and so only near the true ones: at half the
 * arithmetic they cost no more than reading the rows. estimate.ts states how far off they are;
 * a longer chain of additions here widens its bound.
 */
EXPORT(estimate_rows)
void estimate_rows(const float *rows, uint32_t count, uint32_t dimensions, const float *query, float *out) {
  uint32_t half = count / 2;
  uint32_t whole = dimensions & ~7u;
  const float *a = rows, *b = rows + half * dimensions;
  for (uint32_t i = 0; i < half; i += 1) {
    v128_t even_a = wasm_f32x4_const(0, 0, 0, 0), odd_a = even_a, even_b = even_a, odd_b = even_a;
    const float *at = query;
    for (const float *end = query + whole; at != end; at += 8, a += 8, b += 8) {
      v128_t low = wasm_v128_load(at);
      v128_t high = wasm_v128_load(at + 4);
      even_a = add_single_product(even_a, wasm_v128_load(a), low);
      odd_a = add_single_product(odd_a, wasm_v128_load(a + 4), high);
      even_b = add_single_product(even_b, wasm_v128_load(b), low);
      odd_b = add_single_product(odd_b, wasm_v128_load(b + 4), high);
    }
    out[i] = finish_estimate(even_a, odd_a, a, at, dimensions - whole);
    out[half + i] = finish_estimate(even_b, odd_b, b, at, dimensions - whole);
    a += dimensions - whole;
    b += dimensions - whole;
  }
  if (count & 1u) {
    v128_t even = wasm_f32x4_const(0, 0, 0, 0), odd = even;
    const float *at = query;
    for (const float *end = query + whole; at != end; at += 8, b += 8) {
      even = add_single_product(even, wasm_v128_load(b), wasm_v128_load(at));
      odd = add_single_product(odd, wasm_v128_load(b + 4), wasm_v128_load(at + 4));
    }
    out[count - 1] = finish_estimate(even, odd, b, at, dimensions - whole);
  }
}

/* Squared norms of `count` rows that lie one after the other. */
EXPORT(squared_norms)
void squared_norms(const float *rows, uint32_t count, uint32_t dimensions, double *out) {
  for (uint32_t i = 0; i < count; i += 1) {
    lanes_t lanes = no_lanes();
    const float *row = rows;
    uint32_t left = dimensions;
    for (; left >= 4; left -= 4, row += 4) lanes = add_four(lanes, row, two(row), two(row + 2));
    if (left == 1) lanes.low = add_product(lanes.low, one(row), one(row));
    if (left >= 2) lanes.low = add_product(lanes.low, two(row), two(row));
    if (left == 3) lanes.high = add_product(lanes.high, one(row + 2), one(row + 2));
    out[i] = sum_lanes(lanes);
    rows += dimensions;
  }
}

/* The sum of `count` float64 values, a multiple of 8: reads and adds, nothing else. The bench's yardstick of bandwidth. */
EXPORT(sum_region)
double sum_region(const double *region, uint32_t count) {
  lanes_t a = no_lanes();
  lanes_t b = no_lanes();
  for (const double *end = region + count; region != end; region += 8) {
    a.low = wasm_f64x2_add(a.low, wasm_v128_load(region));
    a.high = wasm_f64x2_add(a.high, wasm_v128_load(region + 2));
    b.low = wasm_f64x2_add(b.low, wasm_v128_load(region + 4));
    b.high = wasm_f64x2_add(b.high, wasm_v128_load(region + 6));
  }
  return sum_lanes(a) + sum_lanes(b);
}
