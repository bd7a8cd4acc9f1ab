// Attention and rotary embeddings.
#include <thimble/ops.h>

#include <cmath>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

// An input as [N, T, heads, D]: it is [N, heads, T, D], or [N, T, heads * D].
Value heads_of(Node& node, size_t i, int64_t heads) {
  if (node.rank(i) == 4) return node.value(i, {0, 2, 1, 3});
  node.require(node.rank(i) == 3 && heads >= 1 && node.shape(i)[2] % heads == 0,
               "expected [N, heads, T, D], or [N, T, heads * D] with the number of heads");
  const Value x = node.value(i);
  const Shape& s = x.shape();
  return reshape(x, {s[0], s[1], heads, s[2] / heads});
}

Value heads_first(Value x) { return transpose(x, {0, 2, 1, 3}); }

struct Query {
  Value q, k, v;  // [N, T, heads, D]
  Value mask;     // [N or 1, heads or 1, T, S], or none
  double scale = 0.0;
  double softcap = 0.0;
  bool causal = false;
};

// Step by step, where products, caps or weights are wanted. Returns [N, T, heads, D].
Value step_by_step(Node& node, const Query& a) {
  const Value q = heads_first(a.q);
  Value k = heads_first(a.k);
  Value v = heads_first(a.v);
  const int64_t times = q.shape()[1] / k.shape()[1];
  if (times > 1) {
    const auto shared = [&](Value x) {
      const Shape& s = x.shape();
      const Value wide =
          broadcast_to(reshape(x, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], times, s[2], s[3]});
      return reshape(wide, {s[0], s[1] * times, s[2], s[3]});
    };
    k = shared(k);
    v = shared(v);
  }
  const int64_t mode = node.integer("qk_matmul_output_mode", 0);
  Value scores = matmul(q, k, {.transpose_b = true}) * a.scale;
  if (mode == 0 && node.gives(3)) node.give(3, scores);
  if (a.softcap > 0.0) scores = tanh(scores * (1.0 / a.softcap)) * a.softcap;
  if (mode == 1 && node.gives(3)) node.give(3, scores);
  if (a.mask) scores = scores + a.mask;
  if (mode == 2 && node.gives(3)) node.give(3, scores);
  const Value weights = softmax(scores, {.axis = -1});
  if (mode == 3 && node.gives(3)) node.give(3, weights);
  return heads_first(matmul(weights, v));
}

void attention(Node& node) {
  Query a;
  a.q = heads_of(node, 0, node.integer("q_num_heads", 0));
  a.k = heads_of(node, 1, node.integer("kv_num_heads", 0));
  a.v = heads_of(node, 2, node.integer("kv_num_heads", 0));
  node.require(a.q.shape().elements() > 0 && a.k.shape().elements() > 0,
               "expected no empty tensor");
  node.require(!node.has(6), "thimble has no lengths of padded keys here; give a mask");
  a.causal = node.integer("is_causal", 0) != 0;
  a.softcap = node.number("softcap", 0.0);
  a.scale = node.number("scale", 1.0 / std::sqrt(static_cast<double>(a.q.shape()[3])));
  if (node.has(4)) {
    node.require(node.has(5), "expected both keys and values of the past");
    node.require(!a.causal, "thimble has no causal attention to a past");
    a.k = concat({node.value(4, {0, 2, 1, 3}), a.k}, {.axis = 1});
    a.v = concat({node.value(5, {0, 2, 1, 3}), a.v}, {.axis = 1});
  }
  const Order swapped{0, 2, 1, 3};
  node.give(1, a.k, swapped);
  node.give(2, a.v, swapped);
  bool is_bool = false;
  if (node.has(3)) {
    is_bool = node.item(3).is_bool;
    a.mask = node.value(3);
    node.require(a.mask.shape().rank() <= 4, "expected a mask of at most four dimensions");
    std::vector<int64_t> dims(static_cast<size_t>(4 - a.mask.shape().rank()), 1);
    dims.insert(dims.end(), a.mask.shape().dims().begin(), a.mask.shape().dims().end());
    a.mask = reshape(a.mask, Shape(dims));
    node.require(a.mask.shape()[3] == 1 || a.mask.shape()[3] == a.k.shape()[1],
                 "its mask has another number of keys");
    node.require(is_bool || a.mask.dtype() == DType::f32, "expected a mask of float32 or bool");
  }
  Value y;
  const bool simple = a.softcap == 0.0 && !node.gives(3) && a.q.dtype() == DType::f32;
  if (simple) {
    y = scaled_dot_product_attention(
        a.q, a.k, a.v, a.mask,
        {.causal = a.causal, .scale = a.scale, .dropout = node.number("dropout", 0.0)});
  } else {
    if (is_bool) {
      a.mask = (1.0 - cast(a.mask, DType::f32)) * -1e30;
    }
    if (a.causal) {
      const int64_t t = a.q.shape()[1];
      const int64_t s = a.k.shape()[1];
      node.require(t <= (int64_t{1} << 24) / s, "its sequences are too long for a mask");
      std::vector<float> hidden;
      for (int64_t i = 0; i < t; ++i) {
        for (int64_t j = 0; j < s; ++j) hidden.push_back(j <= i ? 0.0F : -1e30F);
      }
      Item item;
      item.known = Array(std::move(hidden), {1, 1, t, s});
      const Value later = node.importer().value(item);
      a.mask = a.mask ? a.mask + later : later;
    }
    y = step_by_step(node, a);
  }
  if (node.rank(0) == 3) {
    const Shape& s = y.shape();
    node.give(reshape(y, {s[0], s[1], s[2] * s[3]}));
  } else {
    node.give(y, swapped);
  }
}

// Pairs of numbers rotate by angles whose cosines and sines are given.
void rotary(Node& node) {
  const bool four = node.rank(0) == 4;
  const Value x = heads_of(node, 0, node.integer("num_heads", 0));  // [N, T, heads, D]
  const Shape& s = x.shape();
  const bool interleaved = node.integer("interleaved", 0) != 0;
  int64_t width = node.integer("rotary_embedding_dim", 0);
  if (width == 0) width = s[3];
  node.require(width % 2 == 0 && width >= 2 && width <= s[3],
               "expected an even number that rotates");
  // [N, T, 1, width / 2]
  const auto table = [&](size_t i) {
    Value all = node.value(i);
    node.require(all.shape().rank() == (node.has(3) ? 2 : 3) && (!node.has(3) || node.rank(3) == 2),
                 "its tables have another number of dimensions");
    if (node.has(3)) {
      const Value at = as_type(node.value(3), DType::i32);
      const Shape places = at.shape();
      all = index_select(all, reshape(at, {places.elements()}), {.axis = 0});
      return reshape(all, {places[0], places[1], 1, all.shape()[1]});
    }
    return reshape(all, {all.shape()[0], all.shape()[1], 1, all.shape()[2]});
  };
  const auto half = [&](Value t) {
    return t.shape()[3] == width / 2 ? t : slice(t, 3, 0, width / 2);
  };
  const Value cosine = half(table(1));
  const Value sine = half(table(2));
  const Value turned = slice(x, 3, 0, width);
  Value a;
  Value b;
  if (interleaved) {
    a = slice(turned, 3, 0, width, 2);
    b = slice(turned, 3, 1, width, 2);
  } else {
    a = slice(turned, 3, 0, width / 2);
    b = slice(turned, 3, width / 2, width);
  }
  const Value first = a * cosine - b * sine;
  const Value second = a * sine + b * cosine;
  Value y;
  if (interleaved) {
    const Shape pair{s[0], s[1], s[2], width / 2, 1};
    y = reshape(concat({reshape(first, pair), reshape(second, pair)}, {.axis = 4}),
                {s[0], s[1], s[2], width});
  } else {
    y = concat({first, second}, {.axis = 3});
  }
  if (width < s[3]) y = concat({y, slice(x, 3, width, s[3])}, {.axis = 3});
  if (four) {
    node.give(y, {0, 2, 1, 3});
  } else {
    node.give(reshape(y, {s[0], s[1], s[2] * s[3]}));
  }
}

}  // namespace

void add_attention(Conversions& table) {
  table["Attention"] = {attention, false};
  table["RotaryEmbedding"] = {rotary, false};
}

}  // namespace thimble::importer::onnx
