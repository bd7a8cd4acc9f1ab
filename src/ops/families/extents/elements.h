/* Extents of elementwise ops, reductions and losses. Plain C99. */
#ifndef THIMBLE_OPS_FAMILIES_EXTENTS_ELEMENTS_H_
#define THIMBLE_OPS_FAMILIES_EXTENTS_ELEMENTS_H_

#include "ops/activation_bits/dims.h"
#include "ops/families/binary/binary_dims.h"
#include "ops/families/binary/broadcast_dims.h"
#include "ops/families/extents/extents.h"
#include "ops/families/loss/class_dims.h"
#include "ops/families/loss/loss_dims.h"
#include "ops/families/move/copy_dims.h"
#include "ops/families/reduction/reduce_dims.h"
#include "ops/families/unary/unary_dims.h"
#include "ops/softmax_cross_entropy/dims.h"

/* Of kernels whose arguments all have n elements: a function and its gradient. */
static int unary_dims_1_extents(const void* params, kernel_extents* e) {
  const unary_dims* d = (const unary_dims*)params;
  e->out[0] = e->in[0] = extents_product(d->n, 1, 1, 1) * (int64_t)sizeof(float);
  return e->out[0] > 0;
}
static int unary_dims_2_extents(const void* params, kernel_extents* e) {
  const int fits = unary_dims_1_extents(params, e);
  e->in[1] = e->in[0];
  return fits;
}

static int activation_bits_ref_extents(const void* params, kernel_extents* e) {
  const bits_dims* d = (const bits_dims*)params;
  const int64_t n = extents_product(d->n, 1, 1, 1);
  e->out[0] = (n + 7) / 8;
  e->in[0] = n * (int64_t)sizeof(float);
  return n > 0;
}

static int grad_by_bits_ref_extents(const void* params, kernel_extents* e) {
  const grad_by_bits_dims* d = (const grad_by_bits_dims*)params;
  const int64_t n = extents_product(d->n, 1, 1, 1);
  e->out[0] = e->in[0] = n * (int64_t)sizeof(float);
  e->in[1] = (n + 7) / 8;
  return n > 0;
}

static int reshape_ref_extents(const void* params, kernel_extents* e) {
  const copy_dims* d = (const copy_dims*)params;
  const int bits = d->element.is_real ? (int)sizeof(float) * 8 : d->element.bits;
  const int64_t n = extents_product(d->n, 1, 1, 1);
  if (bits < 8 || bits > 64) return 0;
  e->out[0] = e->in[0] = n * (bits / 8);
  return n > 0;
}

/* One more than the largest index of some axes with these strides, which do not go backwards; 0
   where that is too much. */
static int64_t extents_reach(int64_t reach, int count, const int* size, const int* stride) {
  for (int a = 0; a < count && reach > 0; ++a) {
    if (size[a] < 1 || size[a] > EXTENTS_MOST || stride[a] < 0 || stride[a] > EXTENTS_MOST)
      return 0;
    reach += (int64_t)(size[a] - 1) * stride[a];
    if (reach > EXTENTS_MOST) return 0;
  }
  return reach;
}

static int binary_dims_2_extents(const void* params, kernel_extents* e) {
  const binary_dims* d = (const binary_dims*)params;
  const int64_t n = extents_product(d->n, 1, 1, 1);
  if (n == 0 || d->count < 1 || d->count > BINARY_MAX_AXES) return 0;
  if (d->size[0] < 1 || d->n % d->size[0] != 0) return 0;
  e->out[0] = n * (int64_t)sizeof(float);
  e->in[0] = extents_reach(1, d->count, d->size, d->stride_a) * (int64_t)sizeof(float);
  e->in[1] = extents_reach(1, d->count, d->size, d->stride_b) * (int64_t)sizeof(float);
  return e->in[0] > 0 && e->in[1] > 0;
}

static int broadcast_dims_1_extents(const void* params, kernel_extents* e) {
  const broadcast_dims* d = (const broadcast_dims*)params;
  const int64_t n = extents_product(d->n, 1, 1, 1);
  if (n == 0 || d->count < 1 || d->count > 8) return 0;
  if (d->size[0] < 1 || d->n % d->size[0] != 0) return 0;
  e->out[0] = n * (int64_t)sizeof(float);
  e->in[0] = extents_reach(1, d->count, d->size, d->stride) * (int64_t)sizeof(float);
  return e->in[0] > 0;
}

static int reduce_dims_1_extents(const void* params, kernel_extents* e) {
  const reduce_dims* d = (const reduce_dims*)params;
  const int64_t outputs = extents_product(d->outputs, 1, 1, 1);
  if (outputs == 0 || extents_product(d->reduced, 1, 1, 1) == 0) return 0;
  if (d->kept.count < 0 || d->kept.count > 4 || d->over.count < 0 || d->over.count > 4) return 0;
  int64_t over = 1;
  for (int a = 0; a < d->over.count && over <= d->reduced; ++a) over *= d->over.size[a];
  if (over != d->reduced) return 0;
  int64_t reach = extents_reach(1, d->kept.count, d->kept.size, d->kept.stride);
  reach = extents_reach(reach, d->over.count, d->over.size, d->over.stride);
  e->out[0] = outputs * (int64_t)sizeof(float);
  e->in[0] = reach * (int64_t)sizeof(float);
  return reach > 0;
}

static int loss_dims_2_extents(const void* params, kernel_extents* e) {
  const loss_dims* d = (const loss_dims*)params;
  const int64_t n = extents_product(d->n, 1, 1, 1) * (int64_t)sizeof(float);
  e->out[0] = d->divisor == LOSS_TERMS ? n : (int64_t)sizeof(float);
  e->in[0] = e->in[1] = n;
  return n > 0;
}

/* Of its gradient. */
static int loss_dims_3_extents(const void* params, kernel_extents* e) {
  const int fits = loss_dims_2_extents(params, e);
  const int64_t n = e->in[0];
  e->in[0] = e->out[0];
  e->out[0] = e->in[1] = e->in[2] = n;
  return fits;
}

/* Of the labels of class scores. */
static int64_t label_extent(int sparse, int rows, int classes) {
  return sparse ? rows * (int64_t)sizeof(int32_t)
                : (int64_t)rows * classes * (int64_t)sizeof(float);
}

static int softmax_cross_entropy_ref_extents(const void* params, kernel_extents* e) {
  const cross_entropy_dims* d = (const cross_entropy_dims*)params;
  const int64_t n = extents_product(d->rows, d->classes, 1, 1);
  if (n == 0) return 0;
  e->out[0] = (d->divisor == LOSS_TERMS ? d->rows : 1) * (int64_t)sizeof(float);
  e->in[0] = n * (int64_t)sizeof(float);
  e->in[1] = label_extent(d->sparse, d->rows, d->classes);
  e->in[2] = d->classes * (int64_t)sizeof(float);
  e->optional = 1U << 2;
  return 1;
}

static int softmax_cross_entropy_grad_ref_extents(const void* params, kernel_extents* e) {
  kernel_extents forward = {{0}, {0}, 0, 0, 0};
  if (!softmax_cross_entropy_ref_extents(params, &forward)) return 0;
  e->out[0] = e->in[1] = forward.in[0];
  e->in[0] = forward.out[0];
  e->in[2] = forward.in[1];
  e->in[3] = forward.in[2];
  e->optional = 1U << 3;
  return 1;
}

static int accuracy_ref_extents(const void* params, kernel_extents* e) {
  const class_dims* d = (const class_dims*)params;
  const int64_t n = extents_product(d->rows, d->classes, 1, 1);
  e->out[0] = (int64_t)sizeof(float);
  e->in[0] = n * (int64_t)sizeof(float);
  e->in[1] = label_extent(d->sparse, d->rows, d->classes);
  return n > 0;
}

#endif
