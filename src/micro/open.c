/* Opens the files of a training and checks all of them before anything runs. */
#include <string.h>

#include "micro/internal.h"

typedef struct micro_char_and_double {
  char first;
  double second;
} micro_char_and_double;
typedef char micro_doubles_are_aligned_to_8[sizeof(micro_char_and_double) == 16 ? 1 : -1];

uint32_t micro_crc32(uint32_t crc, const unsigned char* data, size_t bytes) {
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                     0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                     0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  crc = ~crc;
  for (size_t i = 0; i < bytes; ++i) {
    crc = table[(crc ^ data[i]) & 15U] ^ (crc >> 4);
    crc = table[(crc ^ ((uint32_t)data[i] >> 4)) & 15U] ^ (crc >> 4);
  }
  return ~crc;
}

uint32_t micro_u32(const unsigned char* from) {
  return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void micro_put_u32(unsigned char* to, uint32_t number) {
  for (int i = 0; i < 4; ++i) to[i] = (unsigned char)(number >> (8 * i));
}

int micro_is_name(const char* name, const char* wanted) { return strcmp(name, wanted) == 0; }

/* Whether a table's entries lie behind the header and within the file. */
static int is_table(const micro_header* h, const micro_table* table, size_t entry) {
  if (table->offset % 8 != 0 || table->offset < sizeof *h || table->offset > h->bytes) return 0;
  return table->count <= (h->bytes - table->offset) / entry;
}

static int is_range(uint32_t first, uint32_t count, uint32_t all) {
  return first <= all && count <= all - first;
}

/* Whether a text of a table ends within its bytes. */
static int is_text(const char* text, size_t bytes) { return memchr(text, 0, bytes) != NULL; }

static int is_header(const void* program, size_t bytes) {
  const micro_header* h = (const micro_header*)program;
  const uint16_t one = 1;
  if (*(const unsigned char*)&one != 1) return 0; /* a processor of the other byte order */
  if (bytes < sizeof *h || h->magic != MICRO_MAGIC || h->version != MICRO_VERSION) return 0;
  return h->bytes == bytes && h->arena_bytes < UINT32_MAX / 4 && h->state_bytes < UINT32_MAX / 4;
}

size_t thimble_micro_memory_bytes(const void* program, size_t program_bytes) {
  if (program == NULL || (uintptr_t)program % 8 != 0) return 0;
  if (!is_header(program, program_bytes)) return 0;
  const micro_header* h = (const micro_header*)program;
  return ((size_t)h->arena_bytes + 7) / 8 * 8 + h->state_bytes;
}

static int are_tables(const micro_header* h) {
  return is_table(h, &h->kernels, sizeof(micro_kernel_entry)) &&
         is_table(h, &h->stored, sizeof(micro_stored)) &&
         is_table(h, &h->sources, sizeof(micro_source)) &&
         is_table(h, &h->constants, sizeof(micro_constant)) &&
         is_table(h, &h->optimizers, sizeof(micro_optimizer)) &&
         is_table(h, &h->programs, sizeof(micro_program)) &&
         is_table(h, &h->calls, sizeof(micro_call)) &&
         is_table(h, &h->arguments, sizeof(micro_argument)) &&
         is_table(h, &h->patches, sizeof(micro_patch)) &&
         is_table(h, &h->bindings, sizeof(micro_binding)) &&
         is_table(h, &h->results, sizeof(micro_result)) &&
         h->kernels.count <= THIMBLE_MICRO_KERNELS && h->constants.count <= THIMBLE_MICRO_CONSTANTS;
}

static int is_stored(const thimble_micro* m, const micro_stored* s) {
  const micro_header* h = micro_program_header(m);
  const int in_place = s->at == MICRO_NONE;
  if (s->bytes == 0 || s->bytes % 4 != 0) return 0;
  if (s->optimizer != MICRO_NONE &&
      (s->optimizer >= h->optimizers.count || s->from != MICRO_ZEROS)) {
    return 0;
  }
  if (!in_place && (s->at % 8 != 0 || !is_range(s->at, s->bytes, h->state_bytes))) return 0;
  switch (s->from) {
    case MICRO_ZEROS:
      return !in_place;
    case MICRO_WOF: {
      const uint64_t elements = (uint64_t)s->a * s->b;
      if (s->a > 0 && (elements == 0 || elements > s->bytes || elements * s->c != s->bytes / 4)) {
        return 0;
      }
      return !in_place && s->source < h->tensors;
    }
    case MICRO_MODEL:
      return s->source % 4 == 0 && is_range(s->source, s->bytes, h->model_bytes);
    case MICRO_PROGRAM:
      return s->source % 4 == 0 && s->source >= sizeof *h &&
             is_range(s->source, s->bytes, h->bytes);
    default:
      return 0;
  }
}

thimble_micro_status micro_check_program(thimble_micro* m) {
  const micro_header* h = micro_program_header(m);
  const unsigned char* bytes = (const unsigned char*)m->files.program;
  if (!is_header(m->files.program, m->files.program_bytes)) return THIMBLE_MICRO_BAD_PROGRAM;
  if (micro_crc32(0, bytes + MICRO_CHECKED_FROM, h->bytes - MICRO_CHECKED_FROM) != h->crc) {
    return THIMBLE_MICRO_BAD_PROGRAM;
  }
  if (!are_tables(h)) return THIMBLE_MICRO_BAD_PROGRAM;
  for (uint32_t i = 0; i < h->stored.count; ++i) {
    if (!is_stored(m, MICRO_TABLE(micro_stored, m, stored) + i)) return THIMBLE_MICRO_BAD_PROGRAM;
  }
  for (uint32_t i = 0; i < h->sources.count; ++i) {
    const micro_source* s = MICRO_TABLE(micro_source, m, sources) + i;
    if (!is_text(s->name, sizeof s->name) || s->kind > MICRO_RANDOM)
      return THIMBLE_MICRO_BAD_PROGRAM;
  }
  for (uint32_t i = 0; i < h->constants.count; ++i) {
    const micro_constant* c = MICRO_TABLE(micro_constant, m, constants) + i;
    if (!is_text(c->name, sizeof c->name)) return THIMBLE_MICRO_BAD_PROGRAM;
    m->constants[i] = c->value;
  }
  for (uint32_t i = 0; i < h->optimizers.count; ++i) {
    const micro_optimizer* o = MICRO_TABLE(micro_optimizer, m, optimizers) + i;
    if (!is_text(o->name, sizeof o->name)) return THIMBLE_MICRO_BAD_PROGRAM;
  }
  return THIMBLE_MICRO_OK;
}

/* The bytes that an argument leads to; 0: it is none that this program may have. */
static int is_argument(const thimble_micro* m, const micro_program* p, const micro_argument* a,
                       int is_output) {
  const micro_header* h = micro_program_header(m);
  if (a->place == MICRO_NOWHERE) return 1;
  if (a->bytes == 0) return 0;
  if (a->place == MICRO_ARENA) return a->at % 4 == 0 && is_range(a->at, a->bytes, h->arena_bytes);
  if (a->place == MICRO_CONSTANT) {
    return !is_output && a->at % 4 == 0 && a->at >= sizeof *h &&
           is_range(a->at, a->bytes, h->bytes);
  }
  if (a->place != MICRO_STORED || a->at >= h->stored.count) return 0;
  const micro_stored* s = MICRO_TABLE(micro_stored, m, stored) + a->at;
  if (s->optimizer != MICRO_NONE && s->optimizer != p->optimizer) return 0;
  return a->bytes <= s->bytes && !(is_output && s->at == MICRO_NONE);
}

int micro_fits(const micro_kernel* kernel, const void* params, const micro_argument* arguments,
               const micro_call* call) {
  kernel_extents e;
  memset(&e, 0, sizeof e);
  if (!kernel->extents(params, &e)) return 0;
  for (uint32_t i = 0; i < EXTENTS_OUT; ++i) {
    const uint32_t bytes = i < call->outputs ? arguments[i].bytes : 0;
    const int given = i < call->outputs && arguments[i].place != MICRO_NOWHERE;
    if (given ? (int64_t)bytes < e.out[i] : e.out[i] > 0 && !(e.optional_out >> i & 1)) return 0;
  }
  const micro_argument* in = arguments + call->outputs;
  for (uint32_t i = 0; i < EXTENTS_IN; ++i) {
    const uint32_t bytes = i < call->inputs ? in[i].bytes : 0;
    const int given = i < call->inputs && in[i].place != MICRO_NOWHERE;
    if (given ? (int64_t)bytes < e.in[i] : e.in[i] > 0 && !(e.optional >> i & 1)) return 0;
    if (!e.paired || i < 4) continue;
    const uint32_t out = i - 3;
    const int has_out = out < call->outputs && arguments[out].place != MICRO_NOWHERE;
    if (given != has_out) return 0;
  }
  return 1;
}

static int is_call(const thimble_micro* m, const micro_program* p, const micro_call* c) {
  const micro_header* h = micro_program_header(m);
  if (c->kernel >= h->kernels.count || c->outputs > EXTENTS_OUT || c->inputs > EXTENTS_IN) return 0;
  if (!is_range(c->first_argument, c->outputs + c->inputs, h->arguments.count)) return 0;
  if (!is_range(c->first_patch, c->patches, h->patches.count)) return 0;
  if (c->patches > THIMBLE_MICRO_CONSTANTS) return 0;
  const micro_kernel* kernel = &micro_kernels[m->kernels[c->kernel]];
  if (c->params % 8 != 0 || c->params < sizeof *h ||
      !is_range(c->params, kernel->params_bytes, h->bytes)) {
    return 0;
  }
  const micro_argument* arguments = MICRO_TABLE(micro_argument, m, arguments) + c->first_argument;
  for (uint32_t i = 0; i < c->outputs + c->inputs; ++i) {
    if (!is_argument(m, p, arguments + i, i < c->outputs)) return 0;
  }
  for (uint32_t i = 0; i < c->patches; ++i) {
    const micro_patch* patch = MICRO_TABLE(micro_patch, m, patches) + c->first_patch + i;
    if (patch->constant >= h->constants.count || patch->offset % 8 != 0 ||
        !is_range(patch->offset, sizeof(double), kernel->params_bytes)) {
      return 0;
    }
  }
  if (c->patches > 0 && kernel->params_bytes > MICRO_PARAMS) return 0;
  return micro_fits(kernel, (const unsigned char*)m->files.program + c->params, arguments, c);
}

static int is_program(const thimble_micro* m, const micro_program* p) {
  const micro_header* h = micro_program_header(m);
  if (p->kind > THIMBLE_MICRO_PREDICT || p->batch == 0 || p->loss_calls > p->calls) return 0;
  if (p->kind == THIMBLE_MICRO_TRAIN ? p->optimizer >= h->optimizers.count
                                     : p->optimizer != MICRO_NONE) {
    return 0;
  }
  if (!is_range(p->first_call, p->calls, h->calls.count) ||
      !is_range(p->first_binding, p->bindings, h->bindings.count) ||
      !is_range(p->first_result, p->results, h->results.count)) {
    return 0;
  }
  for (uint32_t i = 0; i < p->calls; ++i) {
    if (!is_call(m, p, MICRO_TABLE(micro_call, m, calls) + p->first_call + i)) return 0;
  }
  for (uint32_t i = 0; i < p->bindings; ++i) {
    const micro_binding* b = MICRO_TABLE(micro_binding, m, bindings) + p->first_binding + i;
    if (b->source >= h->sources.count || b->at % 8 != 0) return 0;
    const micro_source* s = MICRO_TABLE(micro_source, m, sources) + b->source;
    const uint32_t scalar = s->kind == MICRO_RANDOM ? 24 : 4;
    const uint64_t least = s->kind > MICRO_LABEL ? scalar : (uint64_t)s->sample_bytes * p->batch;
    if (!is_range(b->at, b->bytes, h->arena_bytes) || b->bytes < least) return 0;
  }
  for (uint32_t i = 0; i < p->results; ++i) {
    const micro_result* r = MICRO_TABLE(micro_result, m, results) + p->first_result + i;
    if (!is_text(r->name, sizeof r->name) || r->value.bytes < 4) return 0;
    if (r->value.place == MICRO_NOWHERE || !is_argument(m, p, &r->value, 0)) return 0;
  }
  return 1;
}

/* Finds the kernels among those that are linked in. */
static thimble_micro_status find_kernels(thimble_micro* m) {
  const micro_header* h = micro_program_header(m);
  for (uint32_t i = 0; i < h->kernels.count; ++i) {
    const micro_kernel_entry* entry = MICRO_TABLE(micro_kernel_entry, m, kernels) + i;
    uint32_t found = 0;
    if (!is_text(entry->name, sizeof entry->name)) return THIMBLE_MICRO_BAD_PROGRAM;
    while (found < micro_kernel_count && !micro_is_name(micro_kernels[found].name, entry->name)) {
      ++found;
    }
    if (found == micro_kernel_count || micro_kernels[found].params_bytes != entry->params_bytes) {
      memcpy(m->missing, entry->name, sizeof m->missing);
      return THIMBLE_MICRO_NO_KERNEL;
    }
    m->kernels[i] = (uint16_t)found;
  }
  return THIMBLE_MICRO_OK;
}

thimble_micro_status micro_check_calls(thimble_micro* m, size_t memory_bytes) {
  const micro_header* h = micro_program_header(m);
  const thimble_micro_status status = find_kernels(m);
  if (status != THIMBLE_MICRO_OK) return status;
  uint32_t calls = 0, bindings = 0, results = 0;
  m->training = m->evaluation = m->prediction = MICRO_NONE;
  for (uint32_t i = 0; i < h->programs.count; ++i) {
    const micro_program* p = micro_program_at(m, i);
    /* No two programs share an entry, so that the time of the checks is bounded by the file. */
    if (p->first_call != calls || p->first_binding != bindings || p->first_result != results ||
        !is_program(m, p)) {
      return THIMBLE_MICRO_BAD_PROGRAM;
    }
    calls += p->calls;
    bindings += p->bindings;
    results += p->results;
    uint32_t* const chosen = p->kind == THIMBLE_MICRO_TRAIN      ? &m->training
                             : p->kind == THIMBLE_MICRO_EVALUATE ? &m->evaluation
                                                                 : &m->prediction;
    if (*chosen == MICRO_NONE) *chosen = i;
  }
  if (m->training == MICRO_NONE) return THIMBLE_MICRO_BAD_PROGRAM;
  return memory_bytes < thimble_micro_memory_bytes(h, h->bytes) ? THIMBLE_MICRO_NO_MEMORY
                                                                : THIMBLE_MICRO_OK;
}

size_t micro_wof_payload(const thimble_micro* m) {
  const unsigned char* bytes = (const unsigned char*)m->files.weights;
  const size_t size = m->files.weights_bytes;
  if (size < MICRO_WOF_HEADER + MICRO_WOF_END) return size;
  return micro_u32(bytes + size - MICRO_WOF_END) == MICRO_WEIGHTS_MAGIC ? size - MICRO_WOF_END
                                                                        : size;
}

const unsigned char* micro_wof_buffer(const thimble_micro* m, uint32_t tensor) {
  const unsigned char* bytes = (const unsigned char*)m->files.weights;
  const uint32_t offset = micro_u32(bytes + MICRO_WOF_HEADER + 4 * (size_t)tensor);
  return offset == 0 || offset == MICRO_NONE ? NULL : bytes + offset;
}

/* Whether the buffers of all weights lie within the file, one beside the other, and it ends with
   the last one: a checksum that was cut is no part of the file. */
static int are_buffers(const thimble_micro* m, size_t payload) {
  const micro_header* h = micro_program_header(m);
  const unsigned char* file = (const unsigned char*)m->files.weights;
  const size_t first = MICRO_WOF_HEADER + 4 * (size_t)h->tensors;
  size_t last = 0;
  for (uint32_t i = 0; i < h->stored.count; ++i) {
    const micro_stored* s = MICRO_TABLE(micro_stored, m, stored) + i;
    if (s->from != MICRO_WOF) continue;
    const unsigned char* buffer = micro_wof_buffer(m, s->source);
    const size_t at = buffer == NULL ? 0 : (size_t)(buffer - file);
    if (at < first || at > payload || s->bytes > payload - at) return 0;
    if (at + s->bytes > last) last = at + s->bytes;
    for (uint32_t k = 0; k < i; ++k) {
      const micro_stored* other = MICRO_TABLE(micro_stored, m, stored) + k;
      if (other->from != MICRO_WOF) continue;
      const size_t begin = (size_t)(micro_wof_buffer(m, other->source) - file);
      if (at < begin + other->bytes && begin < at + s->bytes) return 0;
    }
  }
  /* Behind them may be buffers of tensors that this program does not train, of unknown sizes. */
  for (uint32_t k = 0; k < h->tensors; ++k) {
    const uint32_t offset = micro_u32(file + MICRO_WOF_HEADER + 4 * (size_t)k);
    if (offset != MICRO_NONE && offset >= last) return 1;
  }
  return last == payload;
}

thimble_micro_status micro_check_files(const thimble_micro* m) {
  const micro_header* h = micro_program_header(m);
  const unsigned char* wof = (const unsigned char*)m->files.weights;
  if (m->files.model_bytes != h->model_bytes ||
      micro_crc32(0, (const unsigned char*)m->files.model, h->model_bytes) != h->model_crc) {
    return THIMBLE_MICRO_BAD_MODEL;
  }
  const size_t payload = micro_wof_payload(m);
  if (payload < MICRO_WOF_HEADER || h->tensors > (payload - MICRO_WOF_HEADER) / 4 ||
      (wof[0] | wof[1] << 8) != MICRO_WOF_MAGIC || wof[2] != 1 ||
      micro_u32(wof + 4) != h->tensors) {
    return THIMBLE_MICRO_BAD_WEIGHTS;
  }
  if (payload < m->files.weights_bytes &&
      (micro_u32(wof + payload + 8) != h->structure ||
       micro_u32(wof + payload + 12) != micro_crc32(0, wof, payload + 12))) {
    return THIMBLE_MICRO_BAD_WEIGHTS;
  }
  return are_buffers(m, payload) ? THIMBLE_MICRO_OK : THIMBLE_MICRO_BAD_WEIGHTS;
}

thimble_micro_status thimble_micro_open(thimble_micro* m, const thimble_micro_files* files,
                                        void* memory, size_t memory_bytes) {
  if (m == NULL || files == NULL || memory == NULL || (uintptr_t)memory % 8 != 0 ||
      files->model == NULL || files->weights == NULL || files->program == NULL ||
      (uintptr_t)files->model % 8 != 0 || (uintptr_t)files->program % 8 != 0) {
    return THIMBLE_MICRO_BAD_ARGUMENT;
  }
  memset(m, 0, sizeof *m);
  m->files = *files;
  thimble_micro_status status = micro_check_program(m);
  if (status == THIMBLE_MICRO_OK) status = micro_check_files(m);
  if (status == THIMBLE_MICRO_OK) status = micro_check_calls(m, memory_bytes);
  if (status != THIMBLE_MICRO_OK) return status;
  m->arena = (unsigned char*)memory;
  m->state = m->arena + (micro_program_header(m)->arena_bytes + 7U) / 8 * 8;
  thimble_micro_reset(m);
  return THIMBLE_MICRO_OK;
}
