#include "ops/scaled_dot_product_attention/dims.h"

static ptrdiff_t attention_query(const attention_dims* d, int n, int t, int h) {
  return ((ptrdiff_t)n * d->queries + t) * d->heads + h;
}

static ptrdiff_t attention_key(const attention_dims* d, int n, int s, int h) {
  return ((ptrdiff_t)n * d->keys + s) * d->groups + h / (d->heads / d->groups);
}

/* What enters the softmax; -infinity where the key is hidden. */
static real attention_score(const real* q, const real* k, const void* mask, const attention_dims* d,
                            int n, int h, int t, int s) {
  if (d->causal && s > t) return -(real)INFINITY;
  const real* a = q + attention_query(d, n, t, h) * d->width;
  const real* b = k + attention_key(d, n, s, h) * d->width;
  real sum = 0;
  for (int j = 0; j < d->width; ++j) sum += a[j] * b[j];
  sum *= (real)d->scale;
  const ptrdiff_t at = (ptrdiff_t)n * d->mask_step[0] + (ptrdiff_t)h * d->mask_step[1] +
                       (ptrdiff_t)t * d->mask_step[2] + (ptrdiff_t)s * d->mask_step[3];
  if (d->mask_bytes == 1) return ((const uint8_t*)mask)[at] ? sum : -(real)INFINITY;
  return d->mask_bytes ? sum + ((const real*)mask)[at] : sum;
}

/* The factor that dropout gives a weight. */
static real attention_kept(const uint32_t* rng, const attention_dims* d, int n, int h, int t,
                           int s) {
  if (d->limit == 0) return 1;
  n += (int)philox_first(rng, d->batch);
  const philox_block block = philox_at(rng, d->stream, attention_block(d, n, h, t, s));
  return block.v[t % 4] >> 8 >= (uint32_t)d->limit ? (real)d->keep : 0;
}

/* y = softmax(q k^T scale + mask) v; lse: the logarithm of each softmax's divisor. mask, rng: NULL
   where there is none. Nothing aliases. */
static void attention_ref(real* y, real* lse, const uint32_t* rng, const real* q, const real* k,
                          const real* v, const void* mask, const attention_dims* d) {
  for (int n = 0; n < d->batch; ++n) {
    for (int h = 0; h < d->heads; ++h) {
      for (int t = 0; t < d->queries; ++t) {
        real largest = -(real)INFINITY;
        for (int s = 0; s < d->keys; ++s) {
          const real score = attention_score(q, k, mask, d, n, h, t, s);
          if (!(score <= largest)) largest = score;
        }
        const int sees_nothing = largest == -(real)INFINITY;
        real sum = 0;
        for (int s = 0; s < d->keys && !sees_nothing; ++s) {
          sum += exp(attention_score(q, k, mask, d, n, h, t, s) - largest);
        }
        real* out = y + attention_query(d, n, t, h) * d->value_width;
        for (int j = 0; j < d->value_width; ++j) out[j] = 0;
        for (int s = 0; s < d->keys && !sees_nothing; ++s) {
          const real weight = exp(attention_score(q, k, mask, d, n, h, t, s) - largest) / sum *
                              attention_kept(rng, d, n, h, t, s);
          const real* value = v + attention_key(d, n, s, h) * d->value_width;
          for (int j = 0; j < d->value_width; ++j) out[j] += weight * value[j];
        }
        lse[((ptrdiff_t)n * d->heads + h) * d->queries + t] =
            sees_nothing ? largest : largest + log(sum);
      }
    }
  }
}

/* The gradients of attention_ref, the weights recomputed from lse. Nothing aliases. */
static void attention_grad_ref(real* dq, real* dk, real* dv, const uint32_t* rng, const real* dy,
                               const real* q, const real* k, const real* v, const real* y,
                               const real* lse, const void* mask, const attention_dims* d) {
  const int width = d->width, value_width = d->value_width;
  const ptrdiff_t keys = (ptrdiff_t)d->batch * d->keys * d->groups;
  for (ptrdiff_t i = 0; i < keys * width; ++i) dk[i] = 0;
  for (ptrdiff_t i = 0; i < keys * value_width; ++i) dv[i] = 0;
  for (int n = 0; n < d->batch; ++n) {
    for (int h = 0; h < d->heads; ++h) {
      for (int t = 0; t < d->queries; ++t) {
        const ptrdiff_t query = attention_query(d, n, t, h);
        const real divisor = lse[((ptrdiff_t)n * d->heads + h) * d->queries + t];
        real delta = 0;
        for (int j = 0; j < value_width; ++j) {
          delta += dy[query * value_width + j] * y[query * value_width + j];
        }
        for (int j = 0; j < width; ++j) dq[query * width + j] = 0;
        for (int s = 0; s < d->keys && divisor != -(real)INFINITY; ++s) {
          const ptrdiff_t key = attention_key(d, n, s, h);
          const real weight = exp(attention_score(q, k, mask, d, n, h, t, s) - divisor);
          const real kept = attention_kept(rng, d, n, h, t, s);
          real dweight = 0;
          for (int j = 0; j < value_width; ++j) {
            dv[key * value_width + j] += weight * kept * dy[query * value_width + j];
            dweight += dy[query * value_width + j] * v[key * value_width + j];
          }
          const real dscore = weight * (dweight * kept - delta) * (real)d->scale;
          for (int j = 0; j < width; ++j) {
            dq[query * width + j] += dscore * k[key * width + j];
            dk[key * width + j] += dscore * q[query * width + j];
          }
        }
      }
    }
  }
}

/* The gradient of values that a mask adds: of all scores that share one of them. */
static void attention_mask_grad_ref(real* dmask, const uint32_t* rng, const real* dy, const real* q,
                                    const real* k, const real* v, const real* y, const real* lse,
                                    const real* mask, const attention_dims* d) {
  const int sizes[4] = {d->batch, d->heads, d->queries, d->keys};
  ptrdiff_t elements = 1;
  for (int i = 0; i < 4; ++i) elements *= d->mask_step[i] == 0 ? 1 : sizes[i];
  for (ptrdiff_t i = 0; i < elements; ++i) dmask[i] = 0;
  for (int n = 0; n < d->batch; ++n) {
    for (int h = 0; h < d->heads; ++h) {
      for (int t = 0; t < d->queries; ++t) {
        const ptrdiff_t query = attention_query(d, n, t, h) * d->value_width;
        const real divisor = lse[((ptrdiff_t)n * d->heads + h) * d->queries + t];
        for (int s = 0; s < d->keys && divisor != -(real)INFINITY; ++s) {
          const real* value = v + attention_key(d, n, s, h) * d->value_width;
          const real kept = attention_kept(rng, d, n, h, t, s);
          real dweight = 0;
          for (int j = 0; j < d->value_width; ++j) {
            dweight += dy[query + j] * (value[j] * kept - y[query + j]);
          }
          const real weight = exp(attention_score(q, k, mask, d, n, h, t, s) - divisor);
          dmask[(ptrdiff_t)n * d->mask_step[0] + (ptrdiff_t)h * d->mask_step[1] +
                (ptrdiff_t)t * d->mask_step[2] + (ptrdiff_t)s * d->mask_step[3]] +=
              weight * dweight;
        }
      }
    }
  }
}
