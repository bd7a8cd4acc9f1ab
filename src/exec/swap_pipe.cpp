#include "exec/swap_pipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/swap_checksum.h"

namespace thimble::exec {

SwapLayout::SwapLayout(const std::vector<int64_t>& slots, int64_t buffer_bytes)
    : slot_bytes(slots) {
  for (const int64_t bytes : slot_bytes) {
    offsets.push_back(file_bytes);
    first_chunks.push_back(chunks);
    file_bytes += whole_blocks(bytes);
    chunks += (bytes + buffer_bytes - 1) / buffer_bytes;
  }
}

SwapPipe::SwapPipe(SwapIo& io, const SwapLayout& layout, std::byte* staging,
                   const SwapOptions& options, const std::atomic<bool>& stop,
                   std::function<void(const SwapTransfer&)> done)
    : io_(io),
      layout_(layout),
      staging_(staging),
      buffer_bytes_(options.buffer_bytes),
      stop_(stop),
      done_(std::move(done)),
      chunks_(static_cast<size_t>(options.buffers)),
      checksums_(static_cast<size_t>(layout.chunks), 0),
      written_bytes_(layout.slot_bytes.size(), -1) {}

bool SwapPipe::fail(const SwapFailure& failure) {
  failure_ = failure;
  return false;
}

uint64_t& SwapPipe::checksum(const Chunk& chunk) {
  const int64_t first = layout_.first_chunks[static_cast<size_t>(chunk.transfer.slot)];
  return checksums_[static_cast<size_t>(first + chunk.begin / buffer_bytes_)];
}

bool SwapPipe::is_under_way(int slot) const {
  const int count = static_cast<int>(chunks_.size());
  for (int i = 0; i < under_way_; ++i) {
    if (chunks_[static_cast<size_t>((oldest_ + i) % count)].transfer.slot == slot) return true;
  }
  return false;
}

bool SwapPipe::enter(const SwapTransfer& transfer) {
  const auto slot = static_cast<size_t>(transfer.slot);
  int64_t& written = written_bytes_[slot];
  const int64_t offset = layout_.offsets[slot];
  if (transfer.write) {
    written = transfer.bytes;
  } else if (written < 0) {
    return fail({SwapFailure::Kind::never_written, transfer, {}, offset, 0});
  } else if (written != transfer.bytes) {
    return fail({SwapFailure::Kind::other_size, transfer, {}, offset, written});
  }
  // Chunks in progress may finish in any order on the disk, except those of one slot.
  while (is_under_way(transfer.slot)) {
    if (!finish_oldest()) return false;
  }
  return true;
}

bool SwapPipe::start(const SwapTransfer& transfer, int64_t begin) {
  if (stop_.load(std::memory_order_relaxed)) return false;
  if (begin == 0 && !enter(transfer)) return false;
  if (transfer.bytes == 0) {
    done_(transfer);
    return true;
  }
  const int index = (oldest_ + under_way_) % static_cast<int>(chunks_.size());
  Chunk& chunk = chunks_[static_cast<size_t>(index)];
  chunk = {transfer, begin, std::min(buffer_bytes_, transfer.bytes - begin),
           layout_.offsets[static_cast<size_t>(transfer.slot)] + begin};
  if (transfer.write) {
    checksum(chunk) = copy_with_checksum(buffer(index), transfer.data + begin, chunk.bytes,
                                         static_cast<uint64_t>(chunk.offset));
  }
  io_.start(index, {transfer.write, buffer(index), whole_blocks(chunk.bytes), chunk.offset});
  ++under_way_;
  return true;
}

bool SwapPipe::finish_oldest() {
  const int index = oldest_;
  const Chunk& chunk = chunks_[static_cast<size_t>(index)];
  const SwapTransfer& transfer = chunk.transfer;
  const SwapOutcome outcome = io_.finish(index);
  oldest_ = (oldest_ + 1) % static_cast<int>(chunks_.size());
  --under_way_;
  if (outcome.end != SwapEnd::whole) {
    return fail({SwapFailure::Kind::disk, transfer, outcome, chunk.offset, 0});
  }
  if (!transfer.write) {
    const uint64_t found = copy_with_checksum(transfer.data + chunk.begin, buffer(index),
                                              chunk.bytes, static_cast<uint64_t>(chunk.offset));
    if (found != checksum(chunk)) {
      return fail({SwapFailure::Kind::changed, transfer, {}, chunk.offset, 0});
    }
  }
  if (chunk.begin + chunk.bytes == transfer.bytes) done_(transfer);
  return true;
}

void SwapPipe::abandon() {
  for (; under_way_ > 0; --under_way_) {
    static_cast<void>(io_.finish(oldest_));
    oldest_ = (oldest_ + 1) % static_cast<int>(chunks_.size());
  }
}

namespace {

constexpr const char* kOther =
    "name a folder of another disk with swap_dir (on the command line --swap-dir)";

std::string describe_disk(const SwapOutcome& outcome) {
  switch (outcome.end) {
    case SwapEnd::refused:
      return fmt::format("{}; free space on that disk and check its health, or {}",
                         std::strerror(outcome.error), kOther);
    case SwapEnd::cut_off:
      return fmt::format(
          "the file ends before it: something else has shortened it; find out what, or {}", kOther);
    default:
      return fmt::format("the disk moves no more bytes; {}", kOther);
  }
}

}  // namespace

std::string describe(const SwapFailure& failure, const std::string& folder) {
  using Kind = SwapFailure::Kind;
  const SwapTransfer& t = failure.transfer;
  const std::string what = fmt::format("{} slot {}", t.write ? "writing" : "reading", t.slot);
  const std::string where =
      fmt::format("{} at offset {} of the swap file in {}", what, failure.offset, folder);
  switch (failure.kind) {
    case Kind::none:
      return "";
    case Kind::disk:
      return fmt::format("{}: {}", where, describe_disk(failure.outcome));
    case Kind::changed:
      return fmt::format(
          "{}: its checksum is not the one of what was written: the disk or another "
          "process has changed it; check the disk, or {}",
          where, kOther);
    case Kind::never_written:
      return fmt::format("{}: it was never written; write a slot before it is read", where);
    case Kind::other_size:
      return fmt::format("{}: {} bytes are asked for, {} were written; read what was written",
                         where, t.bytes, failure.limit);
    case Kind::no_such_slot:
      return fmt::format("{}: there are {} slots; number them from 0", what, failure.limit);
    case Kind::beyond_slot:
      return fmt::format("{}: {} bytes, the slot has {}; make larger slots", what, t.bytes,
                         failure.limit);
    case Kind::full_queue:
      return fmt::format("{}: {} transfers are queued already; give the file a larger capacity",
                         what, failure.limit);
  }
  return "";
}

}  // namespace thimble::exec
