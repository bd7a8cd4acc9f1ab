#include "emit/saving.h"

#include <fmt/format.h>

namespace thimble::emit {
namespace {

constexpr const char* kSaving =
    R"c(/* A saved model: 40 bytes ("THMB", version, layout, size, seed, step), the state as it lies in
   memory, and the checksum of all before it, CRC-32. Numbers are little-endian. */
#define SAVED_HEADER 40
#define SAVED_VERSION 1U
#define SAVED_LAYOUT_LOW {0}U /* of names, types and places of the state */
#define SAVED_LAYOUT_HIGH {1}U

static uint32_t crc32_of(uint32_t crc, const unsigned char* data, size_t bytes) {{
  for (size_t i = 0; i < bytes; ++i) {{
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320U & (0U - (crc & 1U)));
  }}
  return crc;
}}

static void put_u32(unsigned char* to, uint32_t number) {{
  for (int i = 0; i < 4; ++i) to[i] = (unsigned char)(number >> (8 * i));
}}

static uint32_t get_u32(const unsigned char* from) {{
  uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number |= (uint32_t)from[i] << (8 * i);
  return number;
}}

/* All of the header but seed and step. */
static void put_header(unsigned char* header) {{
  memcpy(header, "THMB", 4);
  put_u32(header + 4, SAVED_VERSION);
  put_u32(header + 8, SAVED_LAYOUT_LOW);
  put_u32(header + 12, SAVED_LAYOUT_HIGH);
  put_u32(header + 16, THIMBLE_STATE_BYTES);
  put_u32(header + 20, 0);
}}

thimble_status thimble_save(const thimble_model* model, thimble_write write, void* user) {{
  unsigned char header[SAVED_HEADER];
  unsigned char end[4];
  uint32_t crc = 0xffffffffU;
  if (!is_ready(model) || write == NULL) return THIMBLE_BAD_ARGUMENT;
  put_header(header);
  put_u32(header + 24, (uint32_t)model->seed);
  put_u32(header + 28, (uint32_t)(model->seed >> 32));
  put_u32(header + 32, (uint32_t)model->step);
  put_u32(header + 36, (uint32_t)(model->step >> 32));
  crc = crc32_of(crc, header, sizeof header);
  if (write(user, header, sizeof header) != 0) return THIMBLE_WRITE_FAILED;
{2}  put_u32(end, ~crc);
  if (write(user, end, sizeof end) != 0) return THIMBLE_WRITE_FAILED;
  return THIMBLE_OK;
}}

/* Reads a saved model and checks it; copies its state to `state` unless that is NULL. */
static thimble_status read_saved(unsigned char* state, unsigned char* header, thimble_read read,
                                 void* user) {{
  unsigned char wanted[SAVED_HEADER];
  unsigned char part[64];
  uint32_t crc = 0xffffffffU;
  size_t at = 0;
  (void)state;
  put_header(wanted);
  if (read(user, 0, header, SAVED_HEADER) != 0) return THIMBLE_READ_FAILED;
  for (int i = 0; i < 24; ++i) {{
    if (header[i] != wanted[i]) return THIMBLE_BAD_FILE;
  }}
  crc = crc32_of(crc, header, SAVED_HEADER);
{4}  if (read(user, SAVED_HEADER + at, part, 4) != 0) return THIMBLE_READ_FAILED;
  return get_u32(part) == (uint32_t)~crc ? THIMBLE_OK : THIMBLE_BAD_FILE;
}}

thimble_status thimble_load(thimble_model* model, thimble_read read, void* user) {{
  unsigned char header[SAVED_HEADER];
  thimble_status status;
  if (!is_ready(model) || read == NULL) return THIMBLE_BAD_ARGUMENT;
  status = read_saved(NULL, header, read, user);
  if (status != THIMBLE_OK) return status;
  status = read_saved(model->state, header, read, user);
  if (status != THIMBLE_OK) {{
    reset(model);
    return status;
  }}
  model->seed = get_u32(header + 24) | (uint64_t)get_u32(header + 28) << 32;
  model->step = get_u32(header + 32) | (uint64_t)get_u32(header + 36) << 32;
  return THIMBLE_OK;
}}

const char* thimble_version(void) {{ return "{3}"; }}
)c";

// The part of read_saved that reads the state.
constexpr const char* kReadState = R"c(  while (at < THIMBLE_STATE_BYTES) {
    const size_t left = THIMBLE_STATE_BYTES - at;
    const size_t bytes = left < sizeof part ? left : sizeof part;
    if (read(user, SAVED_HEADER + at, part, bytes) != 0) return THIMBLE_READ_FAILED;
    crc = crc32_of(crc, part, bytes);
    if (state != NULL) memcpy(state + at, part, bytes);
    at += bytes;
  }
)c";

constexpr const char* kWriteState =
    R"c(  crc = crc32_of(crc, model->state, THIMBLE_STATE_BYTES);
  if (write(user, model->state, THIMBLE_STATE_BYTES) != 0) return THIMBLE_WRITE_FAILED;
)c";

}  // namespace

std::string saving_source(int64_t state_bytes, uint64_t layout, const std::string& version) {
  const bool has_state = state_bytes > 0;
  return fmt::format(fmt::runtime(kSaving), static_cast<uint32_t>(layout),
                     static_cast<uint32_t>(layout >> 32), has_state ? kWriteState : "",
                     quoted(version), has_state ? kReadState : "");
}

}  // namespace thimble::emit
