#include "data/digit_pen.h"

#include <algorithm>
#include <cmath>

#include "data/digit_styles.h"

namespace thimble::data {
namespace {

constexpr int kPiecesPerSection = 5;  // straight pieces between two knots
constexpr int kMaxPoints = 2 * (kMaxKnots * kPiecesPerSection + 1);

struct Vec {
  float x = 0;
  float y = 0;
};
Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y}; }
Vec operator*(float s, Vec v) { return {s * v.x, s * v.y}; }
float length(Vec v) { return std::sqrt(v.x * v.x + v.y * v.y); }

// A point of the pen's path: where it is and how wide the line is there.
struct PenPoint {
  Vec at;
  float radius = 0;
  bool begins_stroke = false;
};

struct Path {
  PenPoint points[kMaxPoints];
  int size = 0;
};

// The handwriting of one writer, in the digit's own coordinates (0..0.65 by 0..1).
struct Hand {
  explicit Hand(Random& random)
      : width(1.05f + 0.20f * random.normal()),
        slant(0.10f + 0.22f * random.normal()),
        half_turn(0.075f * random.normal()),
        bow(0.18f * random.normal()),
        sag(0.16f * random.normal()),
        waist(0.20f * random.normal()),
        pressure(random.uniform(0.04f, 0.20f)) {
    const float haste = random.uniform();
    jitter = 0.014f + 0.046f * haste * haste;
    const float u = random.uniform();
    radius = 0.75f + 0.55f * random.uniform() + 0.55f * u * u;
  }

  // The writer's deformation of a digit: bends, proportions, slant, rotation.
  Vec apply(Vec p) const {
    const float x = p.x - 0.33f;
    const float y = p.y - 0.5f;
    const float warped_x = width * x + bow * (y * y - 0.08f);
    const float warped_y = y + waist * (y * y - 0.08f) + sag * x * (x + y);
    const float slanted_x = warped_x - slant * warped_y;
    // Rotation by the angle whose half has the tangent half_turn: no sine needed.
    const float square = half_turn * half_turn;
    const float cosine = (1 - square) / (1 + square);
    const float sine = 2 * half_turn / (1 + square);
    return {cosine * slanted_x - sine * warped_y, sine * slanted_x + cosine * warped_y};
  }

  float width;      // against height
  float slant;      // to the right
  float half_turn;  // tangent of half the rotation
  float bow;        // sideways bend
  float sag;        // bend of horizontal lines
  float waist;      // larger lower or upper half
  float pressure;   // deviation of the line width along a stroke
  float jitter;     // deviation of a knot: most write neatly, some in haste
  float radius;     // of the pen, pixels
};

// The slope of the curve through three points, at the middle one, by chord length (Bessel).
Vec slope(Vec before, Vec at, Vec after, float length_before, float length_after) {
  const float sum = length_before + length_after;
  return (length_after / (length_before * sum)) * (at - before) +
         (length_before / (length_after * sum)) * (after - at);
}

// Adds the smooth curve through count knots (no corner inside): cubic Hermite pieces.
void add_curve(std::span<const PenPoint> knots, Path& path) {
  const int count = static_cast<int>(knots.size());
  float chord[kMaxKnots];
  Vec slopes[kMaxKnots];
  for (int i = 0; i + 1 < count; ++i) {
    chord[i] = std::max(length(knots[i + 1].at - knots[i].at), 1e-3f);
  }
  for (int i = 1; i + 1 < count; ++i) {
    slopes[i] = slope(knots[i - 1].at, knots[i].at, knots[i + 1].at, chord[i - 1], chord[i]);
  }
  // The ends continue the parabola of their neighbours; two knots make a straight line.
  const Vec first = (1 / chord[0]) * (knots[1].at - knots[0].at);
  const Vec last = (1 / chord[count - 2]) * (knots[count - 1].at - knots[count - 2].at);
  slopes[0] = count > 2 ? 2 * first - slopes[1] : first;
  slopes[count - 1] = count > 2 ? 2 * last - slopes[count - 2] : last;
  for (int i = 0; i + 1 < count; ++i) {
    for (int piece = 1; piece <= kPiecesPerSection; ++piece) {
      const float t = static_cast<float>(piece) / kPiecesPerSection;
      const float s = 1 - t;
      const Vec at = (s * s * (1 + 2 * t)) * knots[i].at + (t * t * (1 + 2 * s)) * knots[i + 1].at +
                     (t * s * s * chord[i]) * slopes[i] - (t * t * s * chord[i]) * slopes[i + 1];
      path.points[path.size++] = {at, s * knots[i].radius + t * knots[i + 1].radius};
    }
  }
}

// Adds a stroke as this hand writes it.
void add_stroke(std::span<const Knot> stroke, const Hand& hand, Random& random, Path& path) {
  PenPoint knots[kMaxKnots];
  const int count = static_cast<int>(stroke.size());
  // Neighbours wander together: a hand drifts, it does not tremble.
  Vec drift = {random.normal(), random.normal()};
  for (int i = 0; i < count; ++i) {
    const Vec step = {random.normal(), random.normal()};
    drift = 0.65f * drift + 0.75f * step;
    knots[i].at = hand.apply(Vec{stroke[i].x, stroke[i].y} + hand.jitter * drift);
    const bool is_end = i == 0 || i + 1 == count;
    const float press = (is_end ? 0.88f : 1.0f) + hand.pressure * random.normal();
    knots[i].radius = hand.radius * std::clamp(press, 0.55f, 1.5f);
  }
  path.points[path.size++] = {knots[0].at, knots[0].radius, true};
  int begin = 0;
  for (int i = 1; i < count; ++i) {
    if (stroke[i].corner || i + 1 == count) {
      add_curve(std::span<const PenPoint>(knots + begin, static_cast<size_t>(i - begin + 1)), path);
      begin = i;
    }
  }
}

// Scales the path to the usual size on the image and puts it about the middle.
void place(Path& path, Random& random) {
  Vec low = path.points[0].at;
  Vec high = low;
  for (int i = 1; i < path.size; ++i) {
    const Vec at = path.points[i].at;
    low = {std::min(low.x, at.x), std::min(low.y, at.y)};
    high = {std::max(high.x, at.x), std::max(high.y, at.y)};
  }
  const float extent = std::max(high.x - low.x, high.y - low.y);
  const float scale = random.uniform(15.5f, 20.0f) / extent;
  const float middle = 0.5f * (kDigitSize - 1);
  const Vec centre = {middle + 0.9f * random.normal(), middle + 0.9f * random.normal()};
  for (int i = 0; i < path.size; ++i) {
    path.points[i].at = centre + scale * (path.points[i].at - 0.5f * (low + high));
  }
}

// depth: how deep every pixel's centre lies inside the ink, in pixels; negative outside.
// Raises it to that of the straight piece from a to b.
void add_piece(const PenPoint& a, const PenPoint& b, float* depth) {
  const float reach = std::max(a.radius, b.radius) + 1.5f;
  const auto pixel = [](float position) {
    return std::clamp(static_cast<int>(position), 0, kDigitSize - 1);
  };
  const int left = pixel(std::min(a.at.x, b.at.x) - reach + 1);
  const int right = pixel(std::max(a.at.x, b.at.x) + reach);
  const int top = pixel(std::min(a.at.y, b.at.y) - reach + 1);
  const int bottom = pixel(std::max(a.at.y, b.at.y) + reach);
  const Vec along = b.at - a.at;
  const float inverse = 1 / std::max(along.x * along.x + along.y * along.y, 1e-6f);
  const float widening = b.radius - a.radius;
  for (int y = top; y <= bottom; ++y) {
    const float dy = static_cast<float>(y) - a.at.y;
    for (int x = left; x <= right; ++x) {
      const float dx = static_cast<float>(x) - a.at.x;
      const float t = std::clamp((dx * along.x + dy * along.y) * inverse, 0.0f, 1.0f);
      const float distance = length({dx - t * along.x, dy - t * along.y});
      float& here = depth[y * kDigitSize + x];
      here = std::max(here, a.radius + t * widening - distance);
    }
  }
}

}  // namespace

void draw_digit(int digit, Random random, std::span<uint8_t, kDigitSize * kDigitSize> image) {
  const std::span<const Style> styles = styles_of(digit);
  float total = 0;
  for (const Style& style : styles) total += style.weight;
  float pick = random.uniform(0, total);
  size_t chosen = 0;
  while (chosen + 1 < styles.size() && pick >= styles[chosen].weight)
    pick -= styles[chosen++].weight;

  const Hand hand(random);
  Path path;
  for (const std::span<const Knot> stroke : styles[chosen].strokes) {
    if (!stroke.empty()) add_stroke(stroke, hand, random, path);
  }
  place(path, random);

  constexpr float kOutside = -10;
  float depth[kDigitSize * kDigitSize];
  std::fill(std::begin(depth), std::end(depth), kOutside);
  for (int i = 1; i < path.size; ++i) {
    if (!path.points[i].begins_stroke) add_piece(path.points[i - 1], path.points[i], depth);
  }
  const float softness = random.uniform(1.2f, 2.0f);  // pixels over which the line fades
  const float grain = random.uniform(0.0f, 0.14f);
  for (size_t i = 0; i < image.size(); ++i) {
    image[i] = 0;
    const float t = std::clamp(depth[i] / softness + 0.5f, 0.0f, 1.0f);
    if (t == 0) continue;
    const float ink = t * t * (3 - 2 * t) * (1 - grain * random.uniform());
    image[i] = static_cast<uint8_t>(255 * ink + 0.5f);
  }
}

}  // namespace thimble::data
