// The transforms of Winograd's minimal filtering F(m, 3) of one dimension, and their use on rows
// and columns; see winograd.h. Included once per vector target.

#if defined(THIMBLE_SIMD_WINOGRAD_TRANSFORMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_WINOGRAD_TRANSFORMS_INL_H_
#undef THIMBLE_SIMD_WINOGRAD_TRANSFORMS_INL_H_
#else
#define THIMBLE_SIMD_WINOGRAD_TRANSFORMS_INL_H_
#endif

#include <array>

#include "simd/tile-inl.h"
#include "simd/winograd.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// With the matrices of Lavin and Gray: `input` is B^T, `weight` G, `result` A^T; of the gradients,
// `gradient` is A and `sum` G^T. input_pair gives two values of `input`, those of first_of(kPair)
// and second_of(kPair); a second one of -1 does not exist.
template <WinogradKind kKind>
struct Winograd;

// The order of pairs where the points are 0, two or four others, and infinity.
template <WinogradKind kKind>
struct WinogradPairs {
  static constexpr WinogradForm kForm = winograd_form(kKind);
  static constexpr int kPairs = kForm.points / 2;
  static constexpr int first_of(int pair) { return pair == 0 ? 0 : 2 * pair - 1; }
  static constexpr int second_of(int pair) { return pair == 0 ? kForm.points - 1 : 2 * pair; }
};

// F(2, 3), with the points 0, 1, -1 and infinity.
template <>
struct Winograd<WinogradKind::kTwo> : WinogradPairs<WinogradKind::kTwo> {
  template <int kPair>
  static HWY_INLINE void input_pair(const Vec (&d)[4], Vec& first, Vec& second) {
    first = kPair == 0 ? hn::Sub(d[0], d[2]) : hn::Add(d[1], d[2]);
    second = kPair == 0 ? hn::Sub(d[1], d[3]) : hn::Sub(d[2], d[1]);
  }
  static HWY_INLINE void input(const Vec (&d)[4], Vec (&to)[4]) {
    input_pair<0>(d, to[0], to[3]);
    input_pair<1>(d, to[1], to[2]);
  }
  static HWY_INLINE void weight(const Vec (&w)[3], Vec (&to)[4]) {
    const Vec half = hn::Set(F32(), 0.5F);
    const Vec outer = hn::Add(w[0], w[2]);
    to[0] = w[0];
    to[1] = hn::Mul(half, hn::Add(outer, w[1]));
    to[2] = hn::Mul(half, hn::Sub(outer, w[1]));
    to[3] = w[2];
  }
  static HWY_INLINE void result(const Vec (&m)[4], Vec (&to)[2]) {
    to[0] = hn::Add(hn::Add(m[0], m[1]), m[2]);
    to[1] = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
  }
  static HWY_INLINE void gradient(const Vec (&y)[2], Vec (&to)[4]) {
    to[0] = y[0];
    to[1] = hn::Add(y[0], y[1]);
    to[2] = hn::Sub(y[0], y[1]);
    to[3] = hn::Neg(y[1]);
  }
  static HWY_INLINE void sum(const Vec (&m)[4], Vec (&to)[3]) {
    const Vec half = hn::Set(F32(), 0.5F);
    const Vec inner = hn::Mul(half, hn::Add(m[1], m[2]));
    to[0] = hn::Add(m[0], inner);
    to[1] = hn::Mul(half, hn::Sub(m[1], m[2]));
    to[2] = hn::Add(inner, m[3]);
  }
};

// F(4, 3), with the points 0, a, -a, b, -b and infinity. Of the points that were tried these round
// least: 0.8e-6 of the result's norm, where 1 and 2 round 1.7e-6.
template <>
struct Winograd<WinogradKind::kFour> : WinogradPairs<WinogradKind::kFour> {
  static constexpr double a = 0.625, b = 1.5;
  static constexpr double aa = a * a, bb = b * b;
  // The products of a point's distances from the other points.
  static constexpr double at_0 = aa * bb, at_a = 2 * aa * (aa - bb), at_b = 2 * bb * (bb - aa);

  static HWY_INLINE Vec constant(double value) { return hn::Set(F32(), static_cast<float>(value)); }

  template <int kPair>
  static HWY_INLINE void input_pair(const Vec (&d)[6], Vec& first, Vec& second) {
    if constexpr (kPair == 0) {
      const Vec outer = constant(aa * bb);
      const Vec middle = constant(aa + bb);
      first = hn::MulAdd(outer, d[0], hn::NegMulAdd(middle, d[2], d[4]));
      second = hn::MulAdd(outer, d[1], hn::NegMulAdd(middle, d[3], d[5]));
    } else {
      const Vec point = constant(kPair == 1 ? a : b);
      const Vec other = constant(kPair == 1 ? bb : aa);
      const Vec even = hn::NegMulAdd(other, d[2], d[4]);
      const Vec odd = hn::NegMulAdd(other, d[1], d[3]);
      first = hn::MulAdd(point, odd, even);
      second = hn::NegMulAdd(point, odd, even);
    }
  }
  static HWY_INLINE void input(const Vec (&d)[6], Vec (&to)[6]) {
    input_pair<0>(d, to[0], to[5]);
    input_pair<1>(d, to[1], to[2]);
    input_pair<2>(d, to[3], to[4]);
  }
  static HWY_INLINE void weight(const Vec (&w)[3], Vec (&to)[6]) {
    to[0] = hn::Mul(constant(1 / at_0), w[0]);
    weight_pair(a, at_a, w, to[1], to[2]);
    weight_pair(b, at_b, w, to[3], to[4]);
    to[5] = w[2];
  }
  static HWY_INLINE void result(const Vec (&m)[6], Vec (&to)[4]) {
    const Vec even_a = hn::Add(m[1], m[2]);
    const Vec even_b = hn::Add(m[3], m[4]);
    const Vec odd_a = hn::Sub(m[1], m[2]);
    const Vec odd_b = hn::Sub(m[3], m[4]);
    to[0] = hn::Add(m[0], hn::Add(even_a, even_b));
    to[1] = hn::MulAdd(constant(b), odd_b, hn::Mul(constant(a), odd_a));
    to[2] = hn::MulAdd(constant(bb), even_b, hn::Mul(constant(aa), even_a));
    to[3] = hn::MulAdd(constant(bb * b), odd_b, hn::MulAdd(constant(aa * a), odd_a, m[5]));
  }
  static HWY_INLINE void gradient(const Vec (&y)[4], Vec (&to)[6]) {
    to[0] = y[0];
    gradient_pair(a, y, to[1], to[2]);
    gradient_pair(b, y, to[3], to[4]);
    to[5] = y[3];
  }
  static HWY_INLINE void sum(const Vec (&m)[6], Vec (&to)[3]) {
    const Vec even_a = hn::Add(m[1], m[2]);
    const Vec even_b = hn::Add(m[3], m[4]);
    const Vec odd_a = hn::Sub(m[1], m[2]);
    const Vec odd_b = hn::Sub(m[3], m[4]);
    to[0] = hn::MulAdd(constant(1 / at_a), even_a,
                       hn::MulAdd(constant(1 / at_b), even_b, hn::Mul(constant(1 / at_0), m[0])));
    to[1] = hn::MulAdd(constant(a / at_a), odd_a, hn::Mul(constant(b / at_b), odd_b));
    to[2] = hn::MulAdd(constant(aa / at_a), even_a, hn::MulAdd(constant(bb / at_b), even_b, m[5]));
  }

 private:
  // The values at `point` and at -point.
  static HWY_INLINE void weight_pair(double point, double at_point, const Vec (&w)[3],
                                     Vec& positive, Vec& negative) {
    const Vec even =
        hn::MulAdd(constant(point * point / at_point), w[2], hn::Mul(constant(1 / at_point), w[0]));
    const Vec odd = hn::Mul(constant(point / at_point), w[1]);
    positive = hn::Add(even, odd);
    negative = hn::Sub(even, odd);
  }
  static HWY_INLINE void gradient_pair(double point, const Vec (&y)[4], Vec& positive,
                                       Vec& negative) {
    const Vec even = hn::MulAdd(constant(point * point), y[2], y[0]);
    const Vec odd = hn::MulAdd(constant(point * point), y[3], y[1]);
    positive = hn::MulAdd(constant(point), odd, even);
    negative = hn::NegMulAdd(constant(point), odd, even);
  }
};

// F(4, 2): F(4, 3) without the window's last weight and the point infinity.
struct WinogradOfTwo {
  using Four = Winograd<WinogradKind::kFour>;
  template <int kPair>
  static HWY_INLINE void input_pair(const Vec (&d)[5], Vec& first, Vec& second) {
    const Vec all[6] = {d[0], d[1], d[2], d[3], d[4], d[4]};
    Four::input_pair<kPair>(all, first, second);
    if constexpr (kPair == 0) second = hn::Zero(F32());
  }
  static HWY_INLINE void input(const Vec (&d)[5], Vec (&to)[9]) {
    Vec unused;
    input_pair<0>(d, to[0], unused);
    input_pair<1>(d, to[1], to[2]);
    input_pair<2>(d, to[3], to[4]);
  }
  static HWY_INLINE void weight(Vec first, Vec last, Vec (&to)[6]) {
    const Vec taps[3] = {first, last, hn::Zero(F32())};
    Four::weight(taps, to);
  }
  static HWY_INLINE void result(const Vec (&m)[9], Vec (&to)[4]) {
    const Vec all[6] = {m[0], m[1], m[2], m[3], m[4], hn::Zero(F32())};
    Four::result(all, to);
  }
  static HWY_INLINE void gradient(const Vec (&y)[4], Vec (&to)[9]) {
    Vec all[6];
    Four::gradient(y, all);
    THIMBLE_UNROLL
    for (int i = 0; i < 5; ++i) to[i] = all[i];
  }
  static HWY_INLINE void sum(const Vec (&m)[6], Vec& first, Vec& last) {
    const Vec all[6] = {m[0], m[1], m[2], m[3], m[4], hn::Zero(F32())};
    Vec taps[3];
    Four::sum(all, taps);
    first = taps[0], last = taps[1];
  }
};

// Five points of F(4, 2) of every other value, and the values between them.
template <>
struct Winograd<WinogradKind::kStrided> {
  static constexpr WinogradForm kForm = winograd_form(WinogradKind::kStrided);
  static constexpr int kPairs = 5;
  static constexpr int first_of(int pair) { return std::array{0, 1, 3, 6, 8}[pair]; }
  static constexpr int second_of(int pair) { return std::array{5, 2, 4, 7, -1}[pair]; }

  template <int kPair>
  static HWY_INLINE void input_pair(const Vec (&d)[9], Vec& first, Vec& second) {
    const Vec even[5] = {d[0], d[2], d[4], d[6], d[8]};
    if constexpr (kPair < 3) WinogradOfTwo::input_pair<kPair>(even, first, second);
    if constexpr (kPair == 0) second = d[1];
    if constexpr (kPair == 3) first = d[3], second = d[5];
    if constexpr (kPair == 4) first = second = d[7];
  }
  static HWY_INLINE void input(const Vec (&d)[9], Vec (&to)[9]) {
    const Vec even[5] = {d[0], d[2], d[4], d[6], d[8]};
    WinogradOfTwo::input(even, to);
    to[5] = d[1], to[6] = d[3], to[7] = d[5], to[8] = d[7];
  }
  static HWY_INLINE void weight(const Vec (&w)[3], Vec (&to)[6]) {
    WinogradOfTwo::weight(w[0], w[2], to);
    to[5] = w[1];
  }
  static HWY_INLINE void result(const Vec (&m)[9], Vec (&to)[4]) {
    WinogradOfTwo::result(m, to);
    THIMBLE_UNROLL
    for (int i = 0; i < 4; ++i) to[i] = hn::Add(to[i], m[5 + i]);
  }
  static HWY_INLINE void gradient(const Vec (&y)[4], Vec (&to)[9]) {
    WinogradOfTwo::gradient(y, to);
    THIMBLE_UNROLL
    for (int i = 0; i < 4; ++i) to[5 + i] = y[i];
  }
  static HWY_INLINE void sum(const Vec (&m)[6], Vec (&to)[3]) {
    WinogradOfTwo::sum(m, to[0], to[2]);
    to[1] = m[5];
  }
};

// Results of the middle weight, and those of the other two, by F(4, 2), in turns.
template <>
struct Winograd<WinogradKind::kStridedAdjoint> : Winograd<WinogradKind::kStrided> {
  static constexpr WinogradForm kForm = winograd_form(WinogradKind::kStridedAdjoint);

  template <int kPair>
  static HWY_INLINE void input_pair(const Vec (&d)[5], Vec& first, Vec& second) {
    if constexpr (kPair < 3) WinogradOfTwo::input_pair<kPair>(d, first, second);
    if constexpr (kPair == 0) second = d[0];
    if constexpr (kPair == 3) first = d[1], second = d[2];
    if constexpr (kPair == 4) first = second = d[3];
  }
  static HWY_INLINE void input(const Vec (&d)[5], Vec (&to)[9]) {
    WinogradOfTwo::input(d, to);
    THIMBLE_UNROLL
    for (int i = 0; i < 4; ++i) to[5 + i] = d[i];
  }
  static HWY_INLINE void result(const Vec (&m)[9], Vec (&to)[8]) {
    Vec other[4];
    WinogradOfTwo::result(m, other);
    THIMBLE_UNROLL
    for (int i = 0; i < 4; ++i) to[2 * i] = m[5 + i], to[2 * i + 1] = other[i];
  }
};

// Applies `transform`, of kFrom to kTo vectors, to the columns of a square and to the rows of what
// results: load(r, s) gives the values of a place, store(r, s, values) takes those of a result.
template <int kFrom, int kTo, class Load, class Transform, class Store>
HWY_INLINE void transform_square(const Load& load, const Transform& transform, const Store& store) {
  Vec rows[kTo][kFrom];
  THIMBLE_UNROLL
  for (int s = 0; s < kFrom; ++s) {
    Vec column[kFrom];
    Vec transformed[kTo];
    THIMBLE_UNROLL
    for (int r = 0; r < kFrom; ++r) column[r] = load(r, s);
    transform(column, transformed);
    THIMBLE_UNROLL
    for (int r = 0; r < kTo; ++r) rows[r][s] = transformed[r];
  }
  THIMBLE_UNROLL
  for (int r = 0; r < kTo; ++r) {
    Vec transformed[kTo];
    transform(rows[r], transformed);
    THIMBLE_UNROLL
    for (int s = 0; s < kTo; ++s) store(r, s, transformed[s]);
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
