#include "program/serialize.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "plan/arena.h"
#include "plan/transfer_ops.h"
#include "program/attrs_bytes.h"
#include "program/check.h"

namespace thimble::program {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 40;  // of an arena, a slot, a constant
constexpr int64_t kMostThreads = 1024;
constexpr auto kLastRole = static_cast<int64_t>(ir::Role::gradient);
constexpr auto kLastStorage = static_cast<int64_t>(ir::Storage::from_bits16);
constexpr auto kLastPlace = static_cast<int64_t>(Place::constant);
// The least that one takes in a file.
constexpr size_t kLeastTensor = 9 * 8;
constexpr size_t kLeastCall = 6 * 8;
constexpr size_t kLeastStored = 9 * 8;
constexpr size_t kLeastNamed = 2 * 8;

const ir::OpDef* op_of(const std::string& name) {
  const ir::OpDef* const op = ir::find_op(name);
  if (op != nullptr) return op;
  for (const ir::OpDef* const transfer : {&plan::swap_write_op(), &plan::swap_written_op(),
                                          &plan::swap_read_op(), &plan::swap_ready_op()}) {
    if (name == transfer->name) return transfer;
  }
  return nullptr;
}

void write_tensor(const Tensor& tensor, ByteWriter& to) {
  to.text(*tensor.name);
  write_type(tensor.type, to);
  to.number(static_cast<int64_t>(tensor.role));
  to.number(static_cast<int64_t>(tensor.storage));
  to.number((tensor.recomputed ? 1 : 0) + (tensor.fetched ? 2 : 0) + (tensor.is_source ? 4 : 0));
  to.number(static_cast<int64_t>(tensor.place));
  to.number(tensor.at);
}

Tensor read_tensor(ByteReader& from) {
  Tensor tensor;
  tensor.name = from.name("name of a tensor");
  tensor.type = read_type(from);
  tensor.role = static_cast<ir::Role>(from.number("role of a tensor", 0, kLastRole));
  tensor.storage = static_cast<ir::Storage>(from.number("storage of a tensor", 0, kLastStorage));
  const int64_t flags = from.number("flags of a tensor", 0, 7);
  tensor.recomputed = (flags & 1) != 0;
  tensor.fetched = (flags & 2) != 0;
  tensor.is_source = (flags & 4) != 0;
  tensor.place = static_cast<Place>(from.number("place of a tensor", 0, kLastPlace));
  tensor.at = from.number("address of a tensor", 0, kMostBytes);
  return tensor;
}

void write_ids(const std::vector<int>& ids, ByteWriter& to) {
  to.number(static_cast<int64_t>(ids.size()));
  for (const int id : ids) to.number(id);
}

std::vector<int> read_ids(const char* field, int64_t low, int64_t tensors, ByteReader& from) {
  std::vector<int> ids(from.count(field, 8));
  for (int& id : ids) id = static_cast<int>(from.number(field, low, tensors - 1));
  return ids;
}

void write_op(const ir::OpDef& op, const ir::Attrs& attrs, ByteWriter& to) {
  to.text(op.name);
  write_attrs(attrs, to);
}

const ir::OpDef* read_op(ir::Attrs& attrs, ByteReader& from) {
  const std::string name = from.text("kernel");
  const ir::OpDef* const op = op_of(name);
  if (op == nullptr) from.fail("kernel", fmt::format("is \"{}\", which is unknown here", name));
  if (op->kernels.ref == nullptr) from.fail("kernel", fmt::format("\"{}\" cannot run", name));
  attrs = read_attrs(op->signature.attrs, from);
  return op;
}

void write_call(const Call& call, ByteWriter& to) {
  write_op(*call.op, call.attrs, to);
  write_ids(call.inputs, to);
  write_ids(call.outputs, to);
  to.number(call.workspace);
  to.number(call.workspace_bytes);
  to.flag(call.tiled != nullptr);
  if (!call.tiled) return;
  write_op(*call.tiled->op, call.tiled->attrs, to);
  to.number(call.tiled->rows);
}

Call read_call(int64_t tensors, ByteReader& from) {
  Call call;
  call.op = read_op(call.attrs, from);
  call.inputs = read_ids("inputs of a call", -1, tensors, from);
  call.outputs = read_ids("outputs of a call", 0, tensors, from);
  call.workspace = from.number("address of a workspace", -1, kMostBytes);
  call.workspace_bytes = from.number("bytes of a workspace", 0, kMostBytes);
  if (!from.flag("whether an update is tiled")) return call;
  Tiles tiles;
  tiles.op = read_op(tiles.attrs, from);
  tiles.rows = from.number("rows of a tile", 1, INT32_MAX);
  call.tiled = std::make_shared<const Tiles>(std::move(tiles));
  return call;
}

void write_stored(const Stored& stored, ByteWriter& to) {
  to.text(*stored.name);
  to.flag(stored.role == ir::Role::parameter);
  write_type(stored.type, to);
  const Initializer& init = *stored.init;
  to.number(static_cast<int64_t>(init.kind));
  to.real(init.a);
  to.real(init.b);
  to.number(static_cast<int64_t>(init.fan));
  to.number(init.zero_row);
  to.flag(stored.sums_gradients);
  to.text(*stored.average_of);
}

Stored read_stored(ByteReader& from) {
  Stored stored;
  stored.name = from.name("name of a parameter or state");
  stored.role = from.flag("whether it is a parameter") ? ir::Role::parameter : ir::Role::state;
  stored.type = read_type(from);
  Initializer init;
  init.kind = static_cast<Initializer::Kind>(
      from.number("kind of first values", 0, static_cast<int64_t>(Initializer::Kind::orthogonal)));
  init.a = from.real("first values");
  init.b = from.real("first values");
  init.fan = static_cast<Initializer::Fan>(
      from.number("fan of first values", 0, static_cast<int64_t>(Initializer::Fan::average)));
  init.zero_row = from.number("row of zeros", -1, INT32_MAX);
  const std::vector<int64_t>& dims = stored.type.shape.dims();
  if (init.zero_row >= 0 && (dims.empty() || init.zero_row >= dims[0])) {
    from.fail("row of zeros", "is no row of the parameter");
  }
  if (init.kind == Initializer::Kind::orthogonal && dims.size() < 2) {
    from.fail("kind of first values", "is orthogonal, but the parameter is no matrix");
  }
  stored.init = init;
  stored.sums_gradients = from.flag("whether it sums gradients");
  stored.average_of = from.text("parameter of an average");
  return stored;
}

using Named = std::vector<std::pair<std::string, int>>;

void write_named(const Named& named, ByteWriter& to) {
  to.number(static_cast<int64_t>(named.size()));
  for (const auto& [name, id] : named) {
    to.text(name);
    to.number(id);
  }
}

Named read_named(const char* field, int64_t tensors, ByteReader& from) {
  Named named(from.count(field, kLeastNamed));
  for (auto& [name, id] : named) {
    name = from.name(field);
    id = static_cast<int>(from.number(field, 0, tensors - 1));
  }
  return named;
}

// Each element of a list, in order.
template <class T, class Write>
void write_list(const std::vector<T>& list, ByteWriter& to, const Write& write) {
  to.number(static_cast<int64_t>(list.size()));
  for (const T& each : list) write(each, to);
}

// Reads the constants, of the sizes that their tensors state.
void take_constants(Program& program, const std::vector<int64_t>& numbers,
                    const std::vector<PooledConstant>& pool, ByteReader& from) {
  for (const int64_t number : numbers) {
    program.constants.push_back(pool[static_cast<size_t>(number)].contents);
  }
  for (const Tensor& tensor : program.tensors) {
    if (tensor.place != Place::constant) continue;
    const auto at = static_cast<size_t>(tensor.at);
    if (at >= numbers.size() || pool[static_cast<size_t>(numbers[at])].bytes < tensor.bytes()) {
      from.fail("a constant", fmt::format("\"{}\" has fewer bytes than its type", tensor.name));
    }
  }
}

}  // namespace

int64_t ConstantPool::add(const std::shared_ptr<const std::byte>& contents, int64_t bytes) {
  const auto* const first = reinterpret_cast<const char*>(contents.get());
  const auto [known, is_new] = numbers_.try_emplace(
      std::string_view(first, static_cast<size_t>(bytes)), static_cast<int64_t>(entries_.size()));
  if (is_new) entries_.push_back({contents, bytes});
  return known->second;
}

void ConstantPool::write(ByteWriter& to) const {
  to.number(static_cast<int64_t>(entries_.size()));
  for (const Entry& entry : entries_) to.number(entry.bytes);
  for (const Entry& entry : entries_) {
    to.align(static_cast<size_t>(plan::kAlignment));
    to.raw({entry.contents.get(), static_cast<size_t>(entry.bytes)});
  }
}

std::vector<PooledConstant> read_constants(ByteReader& from,
                                           std::shared_ptr<std::byte> (*make)(int64_t bytes)) {
  const std::vector<int64_t> sizes = from.numbers("bytes of a constant", 0, kMostBytes);
  std::vector<PooledConstant> pool;
  for (const int64_t bytes : sizes) {
    from.align(static_cast<size_t>(plan::kAlignment));
    from.require("a constant", bytes);
    const std::shared_ptr<std::byte> contents = make(bytes);
    from.raw("a constant", {contents.get(), static_cast<size_t>(bytes)});
    pool.push_back({contents, bytes});
  }
  if (!from.at_end()) from.fail("the last constant", "is followed by something else");
  return pool;
}

void write_program(const Program& program, ConstantPool& pool, ByteWriter& to) {
  to.number(program.threads);
  to.flag(program.fast);
  to.number(program.arena_bytes);
  to.number(program.staging_bytes);
  write_list(program.stored, to, write_stored);
  write_list(program.tensors, to, write_tensor);
  std::vector<int64_t> constants(program.constants.size(), 0);
  for (const Tensor& tensor : program.tensors) {
    if (tensor.place != Place::constant) continue;
    const auto at = static_cast<size_t>(tensor.at);
    constants[at] = pool.add(program.constants[at], tensor.bytes());
  }
  to.numbers(constants);
  write_list(program.calls, to, write_call);
  to.number(program.loss.value_or(-1));
  write_named(program.outputs, to);
  write_named(program.metrics, to);
  to.numbers(program.slot_bytes);
  to.number(static_cast<int64_t>(program.in_file.size()));
  for (const std::string& name : program.in_file) to.text(name);
}

Program read_program(ByteReader& from, const std::vector<PooledConstant>& pool) {
  Program program;
  program.threads = static_cast<int>(from.number("threads", 1, kMostThreads));
  program.fast = from.flag("fast kernels");
  program.arena_bytes = from.number("bytes of the arena", 0, kMostBytes);
  program.staging_bytes = from.number("bytes of staging", 0, kMostBytes);
  program.stored.resize(from.count("parameters and state", kLeastStored));
  for (Stored& stored : program.stored) stored = read_stored(from);
  program.tensors.resize(from.count("tensors", kLeastTensor));
  for (Tensor& tensor : program.tensors) tensor = read_tensor(from);
  const auto tensors = static_cast<int64_t>(program.tensors.size());
  const std::vector<int64_t> constants =
      from.numbers("number of a constant", 0, static_cast<int64_t>(pool.size()) - 1);
  take_constants(program, constants, pool, from);
  program.calls.resize(from.count("calls", kLeastCall));
  for (Call& call : program.calls) call = read_call(tensors, from);
  const int64_t loss = from.number("loss", -1, tensors - 1);
  if (loss >= 0) program.loss = static_cast<int>(loss);
  program.outputs = read_named("outputs", tensors, from);
  program.metrics = read_named("metrics", tensors, from);
  program.slot_bytes = from.numbers("bytes of a slot of the swap file", 0, kMostBytes);
  const size_t in_file = from.count("parameters in the swap file", 8);
  for (size_t i = 0; i < in_file; ++i) program.in_file.insert(from.name("name in the swap file"));
  if (!from.at_end()) from.fail("a program", "is followed by something else");
  const std::string wrong = error_of(program);
  if (!wrong.empty()) {
    throw Error(from.file(), wrong +
                                 "; the file is damaged, or was made on another kind of machine "
                                 "or by another version: compile the program again");
  }
  for (Call& call : program.calls) {
    Resolved resolved = resolve(program, call);
    call.kernel = resolved.kernel;
    call.params = std::move(resolved.params);
    call.tiled = std::move(resolved.tiled);
  }
  return program;
}

}  // namespace thimble::program
