/* Sizes of confusion_matrix and of the scores made from it. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_CONFUSION_MATRIX_DIMS_H_
#define THIMBLE_OPS_CONFUSION_MATRIX_DIMS_H_

#include <stddef.h>
#include <stdint.h>

typedef struct confusion_dims {
  int rows;    /* labels */
  int classes; /* of the matrix */
  int binary;  /* 1: one score a row, that of class 1 */
  double threshold;
} confusion_dims;

enum { CLASS_PRECISION = 0, CLASS_RECALL = 1, CLASS_F1 = 2 };
enum { CLASS_BINARY = 0, CLASS_MICRO = 1, CLASS_MACRO = 2, CLASS_WEIGHTED = 3 };

typedef struct class_score_dims {
  int classes;
  int score;
  int average;
  int positive;
} class_score_dims;

#endif
