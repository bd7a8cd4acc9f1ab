/* Runs the programs. */
#include <string.h>

#include "micro/internal.h"

const micro_program* micro_chosen(const thimble_micro* m, int kind) {
  if (m == NULL || m->arena == NULL) return NULL;
  const uint32_t at = kind == THIMBLE_MICRO_TRAIN      ? m->training
                      : kind == THIMBLE_MICRO_EVALUATE ? m->evaluation
                      : kind == THIMBLE_MICRO_PREDICT  ? m->prediction
                                                       : MICRO_NONE;
  return at == MICRO_NONE ? NULL : micro_program_at(m, at);
}

uint32_t micro_optimizer_of(const thimble_micro* m) {
  return micro_program_at(m, m->training)->optimizer;
}

size_t micro_element(const micro_stored* s, size_t i) {
  if (s->a == 0) return i;
  const size_t k = i / ((size_t)s->b * s->a); /* [c, b, a] of the file */
  const size_t j = i / s->a % s->b;
  return ((i % s->a) * s->b + j) * s->c + k;
}

void micro_set_stored(thimble_micro* m, const micro_stored* s) {
  const unsigned char* from = NULL;
  if (s->at == MICRO_NONE) return;
  unsigned char* const to = m->state + s->at;
  if (s->from == MICRO_WOF) from = micro_wof_buffer(m, s->source);
  if (s->from == MICRO_MODEL) from = (const unsigned char*)m->files.model + s->source;
  if (s->from == MICRO_PROGRAM) from = (const unsigned char*)m->files.program + s->source;
  if (from == NULL) {
    memset(to, 0, s->bytes);
  } else if (s->a == 0) {
    memcpy(to, from, s->bytes);
  } else {
    for (size_t i = 0; i < s->bytes / 4; ++i) memcpy(to + 4 * micro_element(s, i), from + 4 * i, 4);
  }
}

void micro_clear_states(thimble_micro* m) {
  for (uint32_t i = 0; i < micro_program_header(m)->stored.count; ++i) {
    const micro_stored* s = MICRO_TABLE(micro_stored, m, stored) + i;
    if (s->optimizer == micro_optimizer_of(m)) micro_set_stored(m, s);
  }
}

void thimble_micro_reset(thimble_micro* m) {
  if (m == NULL || m->arena == NULL) return;
  m->step = 0;
  for (uint32_t i = 0; i < micro_program_header(m)->stored.count; ++i) {
    const micro_stored* s = MICRO_TABLE(micro_stored, m, stored) + i;
    if (s->optimizer == MICRO_NONE) micro_set_stored(m, s);
  }
  micro_clear_states(m);
}

thimble_micro_status thimble_micro_choose(thimble_micro* m, const char* optimizer, uint32_t batch) {
  if (m == NULL || m->arena == NULL) return THIMBLE_MICRO_BAD_ARGUMENT;
  const uint32_t before = micro_optimizer_of(m);
  for (uint32_t i = 0; i < micro_program_header(m)->programs.count; ++i) {
    const micro_program* p = micro_program_at(m, i);
    if (p->kind != THIMBLE_MICRO_TRAIN || p->batch != batch) continue;
    const char* name = (MICRO_TABLE(micro_optimizer, m, optimizers) + p->optimizer)->name;
    if (optimizer == NULL ? p->optimizer != before : !micro_is_name(name, optimizer)) continue;
    m->training = i;
    if (p->optimizer != before) {
      m->step = 0;
      micro_clear_states(m);
    }
    return THIMBLE_MICRO_OK;
  }
  return THIMBLE_MICRO_NOT_FOUND;
}

thimble_micro_status thimble_micro_set_constant(thimble_micro* m, const char* name, double value) {
  if (m == NULL || m->arena == NULL || name == NULL || !(value - value == 0)) {
    return THIMBLE_MICRO_BAD_ARGUMENT;
  }
  for (uint32_t i = 0; i < micro_program_header(m)->constants.count; ++i) {
    if (!micro_is_name((MICRO_TABLE(micro_constant, m, constants) + i)->name, name)) continue;
    m->constants[i] = value;
    return THIMBLE_MICRO_OK;
  }
  return THIMBLE_MICRO_NOT_FOUND;
}

uint32_t thimble_micro_batch(const thimble_micro* m, int program) {
  const micro_program* p = micro_chosen(m, program);
  return p == NULL ? 0 : p->batch;
}

void* thimble_micro_input(thimble_micro* m, int program, const char* name, size_t* sample_bytes) {
  const micro_program* p = name == NULL ? NULL : micro_chosen(m, program);
  for (uint32_t i = 0; p != NULL && i < p->bindings; ++i) {
    const micro_binding* b = MICRO_TABLE(micro_binding, m, bindings) + p->first_binding + i;
    const micro_source* s = MICRO_TABLE(micro_source, m, sources) + b->source;
    if (s->kind > MICRO_LABEL || !micro_is_name(s->name, name)) continue;
    if (sample_bytes != NULL) *sample_bytes = s->sample_bytes;
    return m->arena + b->at;
  }
  return NULL;
}

/* Sets what a step reads beside inputs and labels. */
static void set_scalars(thimble_micro* m, const micro_program* p, float learning_rate) {
  const int trains = p->kind == THIMBLE_MICRO_TRAIN;
  for (uint32_t i = 0; i < p->bindings; ++i) {
    const micro_binding* b = MICRO_TABLE(micro_binding, m, bindings) + p->first_binding + i;
    const uint32_t kind = (MICRO_TABLE(micro_source, m, sources) + b->source)->kind;
    unsigned char* const to = m->arena + b->at;
    if (kind == MICRO_RATE) memcpy(to, &learning_rate, 4);
    if (kind == MICRO_UPDATE) {
      const int32_t update = m->step < INT32_MAX ? (int32_t)m->step + 1 : INT32_MAX;
      memcpy(to, &update, 4);
    }
    if (kind == MICRO_RANDOM) { /* those of predictions are always the same */
      const uint32_t random[6] = {trains ? (uint32_t)m->seed : 0,
                                  trains ? (uint32_t)(m->seed >> 32) : 0,
                                  trains ? m->step : 0,
                                  trains ? 0 : 0x80000000U,
                                  0,
                                  p->batch};
      memcpy(to, random, sizeof random);
    }
  }
}

static unsigned char* address_of(const thimble_micro* m, const micro_argument* a) {
  if (a->place == MICRO_NOWHERE) return NULL;
  if (a->place == MICRO_ARENA) return m->arena + a->at;
  const unsigned char* from = (const unsigned char*)m->files.program + a->at;
  if (a->place == MICRO_STORED) {
    const micro_stored* s = MICRO_TABLE(micro_stored, m, stored) + a->at;
    if (s->at != MICRO_NONE) return m->state + s->at;
    const void* file = s->from == MICRO_MODEL ? m->files.model : m->files.program;
    from = (const unsigned char*)file + s->source;
  }
  /* Only inputs lead here (micro_check_calls). */
  return (unsigned char*)(uintptr_t)from;
}

static thimble_micro_status run_calls(thimble_micro* m, uint32_t first, uint32_t last) {
  for (uint32_t n = first; n < last; ++n) {
    const micro_call* c = MICRO_TABLE(micro_call, m, calls) + n;
    const micro_argument* a = MICRO_TABLE(micro_argument, m, arguments) + c->first_argument;
    const micro_kernel* kernel = &micro_kernels[m->kernels[c->kernel]];
    const void* params = (const unsigned char*)m->files.program + c->params;
    double patched[MICRO_PARAMS / sizeof(double)];
    void* out[EXTENTS_OUT] = {NULL};
    const void* in[EXTENTS_IN] = {NULL};
    if (c->patches > 0) {
      memcpy(patched, params, kernel->params_bytes);
      for (uint32_t i = 0; i < c->patches; ++i) {
        const micro_patch* patch = MICRO_TABLE(micro_patch, m, patches) + c->first_patch + i;
        memcpy((unsigned char*)patched + patch->offset, &m->constants[patch->constant],
               sizeof(double));
      }
      params = patched;
      if (!micro_fits(kernel, params, a, c)) return THIMBLE_MICRO_BAD_ARGUMENT;
    }
    for (uint32_t i = 0; i < c->outputs; ++i) out[i] = address_of(m, a + i);
    for (uint32_t i = 0; i < c->inputs; ++i) in[i] = address_of(m, a + c->outputs + i);
    kernel->run(out, in, params);
  }
  return THIMBLE_MICRO_OK;
}

const float* thimble_micro_result(const thimble_micro* m, int program, const char* name,
                                  size_t* bytes) {
  const micro_program* p = name == NULL ? NULL : micro_chosen(m, program);
  for (uint32_t i = 0; p != NULL && i < p->results; ++i) {
    const micro_result* r = MICRO_TABLE(micro_result, m, results) + p->first_result + i;
    if (!micro_is_name(r->name, name)) continue;
    if (bytes != NULL) *bytes = r->value.bytes;
    return (const float*)(const void*)address_of(m, &r->value);
  }
  return NULL;
}

thimble_micro_status thimble_micro_step(thimble_micro* m, float learning_rate, float* loss) {
  const micro_program* p = micro_chosen(m, THIMBLE_MICRO_TRAIN);
  if (p == NULL) return THIMBLE_MICRO_BAD_ARGUMENT;
  const uint32_t middle = p->first_call + p->loss_calls;
  set_scalars(m, p, learning_rate);
  thimble_micro_status status = run_calls(m, p->first_call, middle);
  if (status != THIMBLE_MICRO_OK) return status;
  const float* computed = thimble_micro_result(m, THIMBLE_MICRO_TRAIN, "loss", NULL);
  if (computed != NULL) {
    if (loss != NULL) *loss = *computed;
    if (!(*computed - *computed == 0)) return THIMBLE_MICRO_NOT_FINITE;
  }
  status = run_calls(m, middle, p->first_call + p->calls);
  if (status == THIMBLE_MICRO_OK) ++m->step;
  return status;
}

thimble_micro_status thimble_micro_run(thimble_micro* m, int program) {
  const micro_program* p = micro_chosen(m, program);
  if (p == NULL || program == THIMBLE_MICRO_TRAIN) return THIMBLE_MICRO_BAD_ARGUMENT;
  set_scalars(m, p, 0.0F);
  return run_calls(m, p->first_call, p->first_call + p->calls);
}
