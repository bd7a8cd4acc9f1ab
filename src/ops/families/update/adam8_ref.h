/* Adam with quantized moments. Plain C99: also emitted for devices. */
#include "ops/families/update/adam_dims.h"
#include "ops/families/update/block_codes.h"

/* The scale of a block by its reciprocal; 0 for a block of zeros. */
static real adam8_inverse(real top) { return top > 0 ? 1 / top : 0; }

/* Adam and AdamW with quantized moments (block_codes.h). out: {param [n], codes of exp_avg [n],
   codes of exp_avg_sq [n], their scales [blocks] and [blocks]}, each the memory of the input of
   that name or a copy of it. The step itself is exact: only what is kept for the next one is
   rounded. */
static void adam8_ref(real* const* out, const real* param, const real* grad, const real* lr,
                      const int32_t* step, const uint8_t* m_codes, const uint8_t* v_codes,
                      const real* m_scale, const real* v_scale, const adam_dims* d) {
  const adam_factors factors = adam_factors_at(d, (double)*lr, *step);
  const real shrink = (real)factors.shrink;
  const real step_size = (real)factors.step_size;
  const real root = (real)factors.root;
  const real share1 = (real)(1.0 - d->beta1);
  const real beta2 = (real)d->beta2;
  const real share2 = (real)(1.0 - d->beta2);
  const real epsilon = (real)d->epsilon;
  const real decay = (real)(d->decoupled ? 0.0 : d->weight_decay);
  uint8_t* m_out = (uint8_t*)out[1];
  uint8_t* v_out = (uint8_t*)out[2];
  block_book m_book;
  block_book v_book;
  block_book_fill(&m_book, 1);
  block_book_fill(&v_book, 0);
  for (int block = 0; block < d->blocks; ++block) {
    const int begin = block * BLOCK_ELEMENTS;
    const int count = d->n - begin < BLOCK_ELEMENTS ? d->n - begin : BLOCK_ELEMENTS;
    real m[BLOCK_ELEMENTS];
    real v[BLOCK_ELEMENTS];
    real m_top = 0;
    real v_top = 0;
    for (int k = 0; k < count; ++k) {
      const int i = begin + k;
      const real before = m_scale[block] * (real)m_book.value[m_codes[i]];
      real g = d->maximize ? -grad[i] : grad[i];
      if (decay != 0) g += decay * param[i];
      m[k] = before + share1 * (g - before);
      v[k] = beta2 * (v_scale[block] * (real)v_book.value[v_codes[i]]) + share2 * g * g;
      m_top = (real)fmax(m_top, (real)fabs(m[k]));
      v_top = (real)fmax(v_top, v[k]);
      out[0][i] = shrink * param[i] - step_size * m[k] / (root * (real)sqrt(v[k]) + epsilon);
    }
    for (int k = 0; k < count; ++k) {
      m_out[begin + k] = (uint8_t)block_encode(&m_book, (float)(m[k] * adam8_inverse(m_top)), 1);
      v_out[begin + k] = (uint8_t)block_encode(&v_book, (float)(v[k] * adam8_inverse(v_top)), 0);
    }
    out[3][block] = m_top;
    out[4][block] = v_top;
  }
}
