/*===- RowNormalize.h - what the operator and its kernel agree on ----------===*/
#ifndef EXAMPLE_ROWNORMALIZE_H
#define EXAMPLE_ROWNORMALIZE_H
enum { TILE_ROWS = 16 };
#endif
