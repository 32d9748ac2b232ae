/*===- RowNormalize.c - the kernel of com.example.RowNormalize -------------===*
 *
 * Becomes a part of every artifact that has the operator: no plugin is there at run time. One tile is TILE_ROWS rows;
 * the runtime hands tiles out to its threads, so the result is the same for any number of them.
 *
 *===----------------------------------------------------------------------===*/
#include "RowNormalize.h"
#include "optc/runtime/dispatch.h"
#include <math.h>
#include <string.h>

/* An attribute that is a float: its bits are in the low half. */
static float float_of(int64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof(value));
  return value;
}

/* buf: X, scale, Y. scalar: the rank and the sizes of each, then epsilon and unit_offset. */
void example_row_normalize(const optc_dispatch *d) {
  const float *x = d->buf[0], *scale = d->buf[1];
  float *y = d->buf[2];
  int64_t rank = d->scalar[0], columns = d->scalar[rank], rows = 1;
  for (int64_t i = 1; i < rank; ++i)
    rows *= d->scalar[i];
  const int64_t *attributes = d->scalar + 2 * (1 + rank) + 2; /* behind X, scale (of rank 1) and Y */
  float epsilon = float_of(attributes[0]), offset = (float)attributes[1];

  int64_t begin = d->first * TILE_ROWS, end = d->last * TILE_ROWS;
  for (int64_t row = begin; row < (end < rows ? end : rows); ++row) {
    const float *in = x + row * columns;
    float *out = y + row * columns, sum = 0;
    for (int64_t i = 0; i < columns; ++i)
      sum += in[i] * in[i];
    float factor = 1 / sqrtf(sum / (float)columns + epsilon);
    for (int64_t i = 0; i < columns; ++i)
      out[i] = in[i] * factor * (scale[i] + offset);
  }
}
