/* Training by several settings, evaluation, and what is written of them. */
#include <string.h>

#include "micro/internal.h"

/* Fills the inputs of a program with samples from `first` on. */
static thimble_micro_status fill(thimble_micro* m, const thimble_micro_data* data, int kind,
                                 int is_test, uint32_t first) {
  const micro_program* p = micro_chosen(m, kind);
  for (uint32_t i = 0; i < p->bindings; ++i) {
    const micro_binding* b = MICRO_TABLE(micro_binding, m, bindings) + p->first_binding + i;
    const micro_source* s = MICRO_TABLE(micro_source, m, sources) + b->source;
    if (s->kind > MICRO_LABEL) continue;
    for (uint32_t k = 0; k < p->batch; ++k) {
      unsigned char* const to = m->arena + b->at + (size_t)k * s->sample_bytes;
      if (data->sample(data->user, is_test, first + k, s->name, to, s->sample_bytes) != 0) {
        return THIMBLE_MICRO_DATA_FAILED;
      }
    }
  }
  return THIMBLE_MICRO_OK;
}

static int is_data(const thimble_micro* m, const thimble_micro_data* data) {
  return m != NULL && m->arena != NULL && data != NULL && data->sample != NULL;
}

thimble_micro_status thimble_micro_evaluate(thimble_micro* m, const thimble_micro_data* data,
                                            const char* metric, float* loss, float* score) {
  if (!is_data(m, data) || data->test_samples == 0) return THIMBLE_MICRO_BAD_ARGUMENT;
  const uint32_t batch = thimble_micro_batch(m, THIMBLE_MICRO_EVALUATE);
  const float* losses = thimble_micro_result(m, THIMBLE_MICRO_EVALUATE, "loss", NULL);
  const float* metrics =
      metric == NULL ? losses : thimble_micro_result(m, THIMBLE_MICRO_EVALUATE, metric, NULL);
  double loss_sum = 0;
  double score_sum = 0;
  uint32_t count = 0;
  if (losses == NULL || metrics == NULL) return THIMBLE_MICRO_NOT_FOUND;
  for (uint32_t first = 0; data->test_samples - first >= batch; first += batch, ++count) {
    thimble_micro_status status = fill(m, data, THIMBLE_MICRO_EVALUATE, 1, first);
    if (status == THIMBLE_MICRO_OK) status = thimble_micro_run(m, THIMBLE_MICRO_EVALUATE);
    if (status != THIMBLE_MICRO_OK) return status;
    loss_sum += (double)*losses;
    score_sum += (double)*metrics;
  }
  if (count == 0) return THIMBLE_MICRO_BAD_ARGUMENT;
  if (loss != NULL) *loss = (float)(loss_sum / count);
  if (score != NULL) *score = (float)((metric == NULL ? -score_sum : score_sum) / count);
  return THIMBLE_MICRO_OK;
}

static thimble_micro_status set(thimble_micro* m, const thimble_micro_setting* s) {
  const uint32_t batch = s->batch == 0 ? thimble_micro_batch(m, THIMBLE_MICRO_TRAIN) : s->batch;
  if (s->constant_count > THIMBLE_MICRO_CONSTANTS) return THIMBLE_MICRO_BAD_ARGUMENT;
  thimble_micro_status status = thimble_micro_choose(m, s->optimizer, batch);
  for (uint32_t i = 0; status == THIMBLE_MICRO_OK && i < s->constant_count; ++i) {
    status = thimble_micro_set_constant(m, s->constant_names[i], s->constants[i]);
  }
  return status;
}

static thimble_micro_status train_epoch(thimble_micro* m, const thimble_micro_data* data,
                                        float learning_rate, float* mean) {
  const uint32_t batch = thimble_micro_batch(m, THIMBLE_MICRO_TRAIN);
  double sum = 0;
  uint32_t steps = 0;
  for (uint32_t first = 0; data->train_samples - first >= batch; first += batch, ++steps) {
    float loss = 0;
    thimble_micro_status status = fill(m, data, THIMBLE_MICRO_TRAIN, 0, first);
    if (status == THIMBLE_MICRO_OK) status = thimble_micro_step(m, learning_rate, &loss);
    if (status != THIMBLE_MICRO_OK) return status;
    sum += (double)loss;
  }
  if (steps == 0) return THIMBLE_MICRO_BAD_ARGUMENT;
  *mean = (float)(sum / steps);
  return THIMBLE_MICRO_OK;
}

thimble_micro_status thimble_micro_sweep(thimble_micro* m, const thimble_micro_data* data,
                                         const thimble_micro_setting* settings, uint32_t count,
                                         const char* metric, const thimble_micro_store* store,
                                         thimble_micro_report* report) {
  if (!is_data(m, data) || settings == NULL || store == NULL || report == NULL) {
    return THIMBLE_MICRO_BAD_ARGUMENT;
  }
  memset(report, 0, sizeof *report);
  report->setting = -1;
  thimble_micro_reset(m);
  thimble_micro_status status =
      thimble_micro_evaluate(m, data, metric, NULL, &report->score_before);
  report->score = report->score_before;
  for (uint32_t n = 0; n < count && status == THIMBLE_MICRO_OK; ++n) {
    thimble_micro_reset(m);
    status = set(m, &settings[n]);
    for (uint32_t epoch = 0; epoch < settings[n].epochs && status == THIMBLE_MICRO_OK; ++epoch) {
      float score = 0;
      status = train_epoch(m, data, settings[n].learning_rate, &report->loss);
      if (status != THIMBLE_MICRO_OK) break;
      status = thimble_micro_evaluate(m, data, metric, NULL, &score);
      if (status != THIMBLE_MICRO_OK || !(score > report->score)) continue;
      status = thimble_micro_write_weights(m, store);
      if (status != THIMBLE_MICRO_OK) break;
      report->score = score;
      report->setting = (int32_t)n;
      report->epoch = epoch;
    }
    if (status == THIMBLE_MICRO_NOT_FINITE) status = THIMBLE_MICRO_OK;
  }
  return status;
}

/* What is written, with a running checksum. */
typedef struct output {
  const thimble_micro_store* store;
  uint32_t crc;
  int failed;
} output;

static void put(output* o, const void* data, size_t bytes) {
  if (o->failed || bytes == 0) return;
  o->crc = micro_crc32(o->crc, (const unsigned char*)data, bytes);
  o->failed = o->store->write(o->store->user, data, bytes) != 0;
}

static void put_u32(output* o, uint32_t number) {
  unsigned char bytes[4];
  micro_put_u32(bytes, number);
  put(o, bytes, sizeof bytes);
}

static thimble_micro_status begin(const thimble_micro* m, const thimble_micro_store* store,
                                  output* o) {
  if (m == NULL || m->arena == NULL || store == NULL || store->write == NULL) {
    return THIMBLE_MICRO_BAD_ARGUMENT;
  }
  o->store = store;
  o->crc = 0;
  o->failed = store->begin != NULL && store->begin(store->user) != 0;
  return THIMBLE_MICRO_OK;
}

static thimble_micro_status end(output* o) {
  if (!o->failed && o->store->commit != NULL) o->failed = o->store->commit(o->store->user) != 0;
  return o->failed ? THIMBLE_MICRO_WRITE_FAILED : THIMBLE_MICRO_OK;
}

/* The trained tensor whose buffer is the first from `at` on; NULL: there is no more. */
static const micro_stored* next_weights(const thimble_micro* m, size_t at, size_t* begin) {
  const micro_stored* found = NULL;
  for (uint32_t i = 0; i < micro_program_header(m)->stored.count; ++i) {
    const micro_stored* s = MICRO_TABLE(micro_stored, m, stored) + i;
    if (s->from != MICRO_WOF) continue;
    const unsigned char* buffer = micro_wof_buffer(m, s->source);
    const size_t offset = (size_t)(buffer - (const unsigned char*)m->files.weights);
    if (offset < at || (found != NULL && offset >= *begin)) continue;
    found = s;
    *begin = offset;
  }
  return found;
}

thimble_micro_status thimble_micro_write_weights(const thimble_micro* m,
                                                 const thimble_micro_store* store) {
  output o;
  const thimble_micro_status status = begin(m, store, &o);
  if (status != THIMBLE_MICRO_OK) return status;
  const unsigned char* file = (const unsigned char*)m->files.weights;
  const size_t payload = micro_wof_payload(m);
  size_t at = 0;
  while (at < payload) {
    size_t offset = payload;
    const micro_stored* s = next_weights(m, at, &offset);
    put(&o, file + at, offset - at);
    at = offset;
    if (s == NULL) break;
    for (size_t i = 0; s->a > 0 && i < s->bytes / 4; ++i) {
      put(&o, m->state + s->at + 4 * micro_element(s, i), 4);
    }
    if (s->a == 0) put(&o, m->state + s->at, s->bytes);
    at += s->bytes;
  }
  if (payload < m->files.weights_bytes) { /* it ends with a checksum */
    put(&o, file + payload, 12);
    put_u32(&o, o.crc);
  }
  return end(&o);
}

/* A checkpoint: "THMC", version, the program file's checksum, the chosen training's number, step,
   seed (two), bytes of the state, constants (doubles), the state, CRC-32 of all before. */
enum { CHECKPOINT_HEADER = 32 };

thimble_micro_status thimble_micro_write_checkpoint(const thimble_micro* m,
                                                    const thimble_micro_store* store) {
  output o;
  const thimble_micro_status status = begin(m, store, &o);
  if (status != THIMBLE_MICRO_OK) return status;
  const micro_header* h = micro_program_header(m);
  put_u32(&o, MICRO_CHECKPOINT_MAGIC);
  put_u32(&o, MICRO_VERSION);
  put_u32(&o, h->crc);
  put_u32(&o, m->training);
  put_u32(&o, m->step);
  put_u32(&o, (uint32_t)m->seed);
  put_u32(&o, (uint32_t)(m->seed >> 32));
  put_u32(&o, h->state_bytes);
  put(&o, m->constants, h->constants.count * sizeof(double));
  put(&o, m->state, h->state_bytes);
  put_u32(&o, o.crc);
  return end(&o);
}

thimble_micro_status thimble_micro_read_checkpoint(thimble_micro* m, const void* data,
                                                   size_t bytes) {
  const unsigned char* from = (const unsigned char*)data;
  if (m == NULL || m->arena == NULL || data == NULL) return THIMBLE_MICRO_BAD_ARGUMENT;
  const micro_header* h = micro_program_header(m);
  const size_t constants = h->constants.count * sizeof(double);
  const size_t payload = CHECKPOINT_HEADER + constants + h->state_bytes;
  if (bytes != payload + 4 || micro_u32(from) != MICRO_CHECKPOINT_MAGIC ||
      micro_u32(from + 4) != MICRO_VERSION || micro_u32(from + 8) != h->crc ||
      micro_u32(from + 28) != h->state_bytes ||
      micro_u32(from + payload) != micro_crc32(0, from, payload)) {
    return THIMBLE_MICRO_BAD_CHECKPOINT;
  }
  const uint32_t training = micro_u32(from + 12);
  if (training >= h->programs.count || micro_program_at(m, training)->kind != THIMBLE_MICRO_TRAIN) {
    return THIMBLE_MICRO_BAD_CHECKPOINT;
  }
  m->training = training;
  m->step = micro_u32(from + 16);
  m->seed = micro_u32(from + 20) | (uint64_t)micro_u32(from + 24) << 32;
  memcpy(m->constants, from + CHECKPOINT_HEADER, constants);
  memcpy(m->state, from + CHECKPOINT_HEADER + constants, h->state_bytes);
  return THIMBLE_MICRO_OK;
}
