#include "ops/families/recurrent/recurrent.h"

#include <thimble/ops/add.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/dropout.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/packed_sequence.h>
#include <thimble/ops/pad.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/slice.h>
#include <thimble/ops/sub.h>

#include <fmt/format.h>

#include <cmath>

#include "ops/families/builder/layer.h"

namespace thimble::ops {
namespace {

// [N, width] as [N, 1, width].
Value one_step(Value state) { return reshape(state, {-1, 1, state.shape()[-1]}); }

int64_t directions_of(const RecurrentOptions& o) { return o.bidirectional ? 2 : 1; }
int64_t hidden_width(const RecurrentOptions& o) {
  return o.projection > 0 ? o.projection : o.units;
}

void check_state(const char* type, Value given, const Shape& expected) {
  if (!given || given.shape() == expected) return;
  throw Error(type, fmt::format("expected first states {} (N, layers * directions, width), got {}",
                                to_string(expected), to_string(given.shape())));
}

void check_layers(const char* type, Value x, Value h0, Value c0, const RecurrentOptions& o) {
  const Shape& shape = x.shape();
  if (shape.rank() != 3 || shape[1] < 1 || shape[2] < 1) {
    throw Error(type, fmt::format("expected x [N, steps, features], got {}", to_string(shape)));
  }
  if (o.units < 1 || o.layers < 1) {
    throw Error(type, fmt::format("expected units and layers of at least 1, got {} and {}", o.units,
                                  o.layers));
  }
  if (o.projection < 0 || o.projection >= o.units) {
    throw Error(type, fmt::format("expected a projection of fewer than {} units, got {}", o.units,
                                  o.projection));
  }
  check_share(type, "dropout", o.dropout);
  check_state(type, h0, {shape[0], o.layers * directions_of(o), hidden_width(o)});
  check_state(type, c0, {shape[0], o.layers * directions_of(o), o.units});
}

// The state of index i (layer and direction), [N, units].
Value state_of(Value states, int64_t i) {
  if (!states) return {};
  return reshape(slice(states, 1, i, i + 1), {-1, states.shape()[-1]});
}

Value last_step(Value sequence, bool reverse) {
  const int64_t at = reverse ? 0 : sequence.shape()[1] - 1;
  return slice(sequence, 1, at, at + 1);
}

void check_lengths(const char* type, Value x, Value lengths) {
  if (!lengths) return;
  const int64_t batch = x.shape()[0];
  if (lengths.dtype() == DType::i32 && lengths.shape() == Shape{batch}) return;
  throw Error(type, fmt::format("expected lengths i32{} (one for each sequence), got {}{}",
                                to_string(Shape{batch}), to_string(lengths.dtype()),
                                to_string(lengths.shape())));
}

// One layer in one direction.
struct ScanResult {
  Value y;       // [N, T, width]
  Value last_h;  // [N, 1, width], the state after the last step
  Value last_c;
};
struct ScanOfLengths {
  const RecurrentKind& kind;
  Value lengths;
  ScanAttrs attrs;

  ScanResult operator()(Value x, const RecurrentWeights& weights, Value h0, Value c0) const {
    if (!lengths) {
      const Scanned scanned = kind.scan(x, weights, h0, c0, attrs);
      return {scanned.h, last_step(scanned.h, attrs.reverse),
              scanned.c ? last_step(scanned.c, attrs.reverse) : Value()};
    }
    // A scan from the last step that counts to the first is one from the first to the last of the
    // sequence in the reverse order. What does not count comes after all that does.
    if (attrs.reverse) x = reverse_sequence(x, lengths);
    const Scanned scanned = kind.scan(x, weights, h0, c0, {.reverse = false, .relu = attrs.relu});
    const Value y = attrs.reverse ? reverse_sequence(scanned.h, lengths) : scanned.h;
    return {mask_sequence(y, lengths), one_step(last_of_sequence(scanned.h, lengths)),
            scanned.c ? one_step(last_of_sequence(scanned.c, lengths)) : Value()};
  }
};

Value joined(const std::vector<Value>& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : concat(parts, {.axis = axis});
}

}  // namespace

Shape check_scan(const ir::InferContext& c, int64_t gates, int skip) {
  const int inputs = static_cast<int>(c.inputs.size());
  c.require_rank(0, 3);
  c.require_rank(1, 2);
  const int64_t units = c.shape(1)[1];
  c.require(c.shape(0)[1] >= 1, "expected one step or more");
  c.require(c.shape(1)[0] == gates * units && c.shape(0)[2] == gates * units,
            fmt::format("expected x [N, T, {0} * units] and weights [{0} * units, units]", gates));
  for (int i = 2; i < inputs; ++i) {
    c.require(!c.has(i) || i == skip || c.shape(i) == Shape({c.shape(0)[0], units}),
              "expected first states [N, units]");
  }
  return {c.shape(0)[0], c.shape(0)[1], units};
}

recurrent_dims scan_sizes(const ScanAttrs& attrs, const Shape& h) {
  return {.batch = static_cast<int>(h[0]),
          .steps = static_cast<int>(h[1]),
          .units = static_cast<int>(h[2]),
          .reverse = attrs.reverse ? 1 : 0,
          .relu = attrs.relu ? 1 : 0};
}

Value states_before(Value h, Value h0, bool reverse) {
  const int64_t steps = h.shape()[1];
  const Value others = reverse ? slice(h, 1, 1, steps) : slice(h, 1, 0, steps - 1);
  if (!h0) {
    return reverse ? pad(others, {.before = {0, 0, 0}, .after = {0, 1, 0}})
                   : pad(others, {.before = {0, 1, 0}, .after = {0, 0, 0}});
  }
  if (steps == 1) return one_step(h0);
  return reverse ? concat({others, one_step(h0)}, {.axis = 1})
                 : concat({one_step(h0), others}, {.axis = 1});
}

Value all_steps(Value sequence) { return reshape(sequence, {-1, sequence.shape()[-1]}); }

RecurrentWeights recurrent_weights(const ir::LayerScope& layer, Value x, int64_t gates,
                                   const RecurrentOptions& options, const std::string& suffix) {
  const int64_t units = options.units;
  const double bound = 1.0 / std::sqrt(static_cast<double>(units));
  const auto parameter = [&](const char* name, const Shape& shape) {
    return layer_parameter(layer, x, (name + suffix).c_str(), shape, init::uniform(-bound, bound));
  };
  RecurrentWeights weights;
  weights.ih = parameter("weight_ih", {gates * units, x.shape()[-1]});
  weights.hh = parameter("weight_hh", {gates * units, hidden_width(options)});
  if (options.bias) {
    weights.bias_ih = parameter("bias_ih", {gates * units});
    weights.bias_hh = parameter("bias_hh", {gates * units});
  }
  if (options.projection > 0) weights.hr = parameter("weight_hr", {options.projection, units});
  return weights;
}

Value project(Value x, const RecurrentWeights& weights, bool with_hidden_bias) {
  Value bias = weights.bias_ih;
  if (bias && with_hidden_bias) bias = add(bias, weights.bias_hh);
  return matmul(x, weights.ih, bias, {.transpose_b = true});
}

namespace {

// Units and projection by the weights of a layer; throws Error where there are none.
void take_sizes(const RecurrentKind& kind, const RecurrentWeights& weights,
                RecurrentOptions& options) {
  if (!weights.ih || !weights.hh || weights.hh.shape().rank() != 2) {
    throw Error(kind.type,
                "given weights are at least ih [gates * units, features] and hh [gates "
                "* units, units]");
  }
  options.units = weights.hh.shape()[0] / kind.gates;
  options.projection = weights.hr ? weights.hr.shape()[0] : 0;
}

// Throws Error unless given weights are those of a layer of these options for so many features.
void check_given(const RecurrentKind& kind, const RecurrentWeights& w, int64_t features,
                 const RecurrentOptions& options) {
  const auto check = [&](const char* name, const Value& value, const Shape& wanted, bool optional) {
    if ((!value && optional) || (value && value.shape() == wanted)) return;
    throw Error(kind.type,
                fmt::format("expected a given weight {} {}, got {}", name, to_string(wanted),
                            value ? to_string(value.shape()) : std::string("none")));
  };
  const int64_t rows = kind.gates * options.units;
  check("ih", w.ih, {rows, features}, false);
  check("hh", w.hh, {rows, hidden_width(options)}, false);
  check("bias_ih", w.bias_ih, {rows}, true);
  check("bias_hh", w.bias_hh, {rows}, !w.bias_ih);
  if (w.bias_hh) check("bias_ih", w.bias_ih, {rows}, false);
  if (options.projection > 0) check("hr", w.hr, {options.projection, options.units}, false);
}

// given: of every layer and direction, or empty.
RecurrentResult all_layers(const RecurrentKind& kind, Value x, Value h0, Value c0, Value lengths,
                           const std::vector<RecurrentWeights>& given,
                           const RecurrentOptions& options) {
  check_layers(kind.type, x, h0, c0, options);
  check_lengths(kind.type, x, lengths);
  const ir::LayerScope layer(x.graph(), kind.type, options.name);
  const int64_t directions = directions_of(options);
  std::vector<Value> h;
  std::vector<Value> c;
  for (int64_t level = 0; level < options.layers; ++level) {
    if (level > 0 && options.dropout > 0.0) x = dropout(x, {.p = options.dropout});
    std::vector<Value> results;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const bool reverse = direction == 1;
      const std::string suffix = fmt::format("_l{}{}", level, reverse ? "_reverse" : "");
      const int64_t state = level * directions + direction;
      const RecurrentWeights weights =
          given.empty() ? recurrent_weights(layer, x, kind.gates, options, suffix)
                        : given[static_cast<size_t>(state)];
      if (!given.empty()) check_given(kind, weights, x.shape()[-1], options);
      const ScanOfLengths scan{kind, lengths, {.reverse = reverse, .relu = options.relu}};
      const ScanResult scanned = scan(x, weights, state_of(h0, state), state_of(c0, state));
      results.push_back(scanned.y);
      h.push_back(scanned.last_h);
      if (scanned.last_c) c.push_back(scanned.last_c);
    }
    x = joined(results, 2);
  }
  return {x, joined(h, 1), c.empty() ? Value() : joined(c, 1)};
}

// given: null for parameters of the layer's own.
Scanned one_cell(const RecurrentKind& kind, Value x, Value h, Value c,
                 const RecurrentWeights* given, const RecurrentOptions& options) {
  const Shape& shape = x.shape();
  const int64_t units = options.units;
  if (shape.rank() != 2 || shape[1] < 1 || units < 1) {
    throw Error(kind.type, fmt::format("expected x [N, features] and units of at least 1, got {} "
                                       "and {}",
                                       to_string(shape), units));
  }
  const ir::LayerScope layer(x.graph(), kind.type, options.name);
  if (given != nullptr) check_given(kind, *given, shape[1], options);
  const RecurrentWeights weights =
      given != nullptr ? *given : recurrent_weights(layer, x, kind.gates, options, "");
  const Scanned next = kind.scan(one_step(x), weights, h, c, {.relu = options.relu});
  return {reshape(next.h, {-1, units}), next.c ? reshape(next.c, {-1, units}) : Value()};
}

}  // namespace

RecurrentResult recurrent_layers(const RecurrentKind& kind, Value x, Value h0, Value c0,
                                 Value lengths, const RecurrentOptions& options) {
  return all_layers(kind, x, h0, c0, lengths, {}, options);
}

RecurrentResult recurrent_layers(const RecurrentKind& kind, Value x, Value h0, Value c0,
                                 const std::vector<RecurrentWeights>& weights,
                                 RecurrentOptions options) {
  const auto count = static_cast<int64_t>(weights.size());
  const int64_t directions = directions_of(options);
  if (count == 0 || count % directions != 0) {
    throw Error(kind.type,
                fmt::format("expected the weights of every layer{}, got {} of them",
                            directions == 2 ? ", forward and then backward" : "", count));
  }
  options.layers = count / directions;
  take_sizes(kind, weights.front(), options);
  return all_layers(kind, x, h0, c0, Value(), weights, options);
}

Scanned recurrent_cell(const RecurrentKind& kind, Value x, Value h, Value c,
                       const RecurrentOptions& options) {
  return one_cell(kind, x, h, c, nullptr, options);
}

Scanned recurrent_cell(const RecurrentKind& kind, Value x, Value h, Value c,
                       const RecurrentWeights& weights, RecurrentOptions options) {
  take_sizes(kind, weights, options);
  if (options.projection != 0) throw Error(kind.type, "a cell has no projection: leave hr out");
  return one_cell(kind, x, h, c, &weights, options);
}

void check_share(const char* type, const char* option, double share) {
  if (share >= 0.0 && share <= 1.0) return;
  throw Error(type, fmt::format("expected {} of 0 to 1, got {}", option, share));
}

Value zoned_out(Value before, Value next, double share) {
  if (share == 0.0) return next;
  const Value change = before ? next - before : next;
  const Value moved = dropout(change, {.p = share}) * (1.0 - share);
  return before ? before + moved : moved;
}

}  // namespace thimble::ops
