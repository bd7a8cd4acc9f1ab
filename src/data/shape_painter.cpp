#include "data/shape_painter.h"

#include <algorithm>
#include <cmath>

namespace thimble::data {
namespace {

struct Vector {
  float x = 0;
  float y = 0;
};

struct Color {
  float r = 0;
  float g = 0;
  float b = 0;
};
Color operator+(Color a, Color b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
Color operator-(Color a, Color b) { return {a.r - b.r, a.g - b.g, a.b - b.b}; }
Color operator*(float s, Color c) { return {s * c.r, s * c.g, s * c.b}; }

float norm(Vector v) { return std::sqrt(v.x * v.x + v.y * v.y); }
float share(float t) { return std::clamp(t, 0.0F, 1.0F); }

Color any_color(Random& random) {
  const float r = random.uniform();
  const float g = random.uniform();
  return {r, g, random.uniform()};
}

// A colour that can be told from the other.
Color other_color(Color from, Random& random) {
  constexpr float kContrast = 0.3F;
  for (;;) {
    const Color color = any_color(random);
    const Color d = color - from;
    if (d.r * d.r + d.g * d.g + d.b * d.b > kContrast) return color;
  }
}

// A direction, every one equally likely: no sine needed.
Vector any_direction(Random& random) {
  for (;;) {
    const Vector v{random.uniform(-1, 1), random.uniform(-1, 1)};
    const float size = norm(v);
    if (size > 0.1F && size <= 1) return {v.x / size, v.y / size};
  }
}

// Where a thing lies: its own coordinates have the origin in its centre and its radius as unit.
struct ShapePlace {
  Vector centre;
  float radius;  // pixels
  Vector turn;   // cosine and sine

  [[nodiscard]] Vector own(int x, int y) const {
    const float dx = (static_cast<float>(x) - centre.x) / radius;
    const float dy = (static_cast<float>(y) - centre.y) / radius;
    return {turn.x * dx + turn.y * dy, turn.x * dy - turn.y * dx};
  }
};

struct Canvas {
  float* image;
  int side;
  float softness;  // pixels over which an edge fades

  // depth(p): how deep a point lies inside the thing, in its own coordinates; color(p): there.
  template <class Depth, class Paint>
  void paint(const ShapePlace& place, float reach, Depth depth, Paint color) const {
    const float far = reach * place.radius + softness;
    const auto pixel = [this](float at) { return std::clamp(static_cast<int>(at), 0, side - 1); };
    for (int y = pixel(place.centre.y - far); y <= pixel(place.centre.y + far + 1); ++y) {
      for (int x = pixel(place.centre.x - far); x <= pixel(place.centre.x + far + 1); ++x) {
        const Vector p = place.own(x, y);
        const float cover = share(depth(p) * place.radius / softness + 0.5F);
        if (cover == 0) continue;
        float* const at = image + 3 * (static_cast<int64_t>(y) * side + x);
        const Color c = color(p);
        at[0] += cover * (c.r - at[0]);
        at[1] += cover * (c.g - at[1]);
        at[2] += cover * (c.b - at[2]);
      }
    }
  }
};

// Depths of the outlines, all inside the circle of radius kReach.
constexpr float kReach = 1.2F;

float disc(Vector p) { return 1 - norm(p); }
float ring(Vector p) { return 0.26F - std::abs(norm(p) - 0.8F); }
float square(Vector p) { return 0.82F - std::max(std::abs(p.x), std::abs(p.y)); }
float triangle(Vector p) {
  constexpr float kSine = 0.8660254F;  // of 60 degrees
  return 0.58F - std::max({p.y, kSine * p.x - 0.5F * p.y, -kSine * p.x - 0.5F * p.y});
}
float cross(Vector p) {
  const float x = std::abs(p.x);
  const float y = std::abs(p.y);
  return std::max(std::min(0.28F - x, 1.0F - y), std::min(0.28F - y, 1.0F - x));
}
float crescent(Vector p) { return std::min(1.1F - norm(p), norm({p.x - 0.62F, p.y}) - 0.86F); }

// Of the five half-planes whose edges make a pentagram, a point of the star misses one at most.
float star(Vector p) {
  constexpr Vector kNormals[] = {{0, 1},
                                 {0.95105652F, 0.30901699F},
                                 {0.58778525F, -0.80901699F},
                                 {-0.58778525F, -0.80901699F},
                                 {-0.95105652F, 0.30901699F}};
  float largest = -10;
  float second = -10;
  for (const Vector n : kNormals) {
    const float height = n.x * p.x + n.y * p.y;
    second = std::max(second, std::min(largest, height));
    largest = std::max(largest, height);
  }
  return 0.37F - second;
}

// How far v is from the nearest whole number of periods, 0..0.5 of one.
float wave(float v, float period) {
  const float t = v / period;
  return std::abs(t - std::floor(t) - 0.5F);
}

// Two colours in a pattern.
class Pattern {
 public:
  Pattern(ShapeClass what, Color first, float pixels, float softness, Random& random)
      : what_(what), first_(first), second_(other_color(first, random)) {
    const Vector along = any_direction(random);
    cosine_ = along.x;
    sine_ = along.y;
    period_ = random.uniform(0.42F, 0.62F);
    sharp_ = period_ * pixels / softness;
  }

  Color operator()(Vector p) const {
    const float u = wave(cosine_ * p.x + sine_ * p.y + 10, period_);
    const float v = wave(cosine_ * p.y - sine_ * p.x + 10, period_);
    return first_ + blend(u, v) * (second_ - first_);
  }

 private:
  // The share of the second colour.
  [[nodiscard]] float blend(float u, float v) const {
    const float stripe = share((u - 0.25F) * sharp_ + 0.5F);
    if (what_ == ShapeClass::striped) return stripe;
    if (what_ == ShapeClass::dotted) return share((0.31F - norm({u, v})) * sharp_ + 0.5F);
    const float other = share((v - 0.25F) * sharp_ + 0.5F);
    return stripe + other - 2 * stripe * other;
  }

  ShapeClass what_;
  Color first_;
  Color second_;
  float cosine_;
  float sine_;
  float period_;  // in radii
  float sharp_;
};

void paint_background(const Canvas& canvas, Color color, Random& random) {
  const float strength = random.uniform(0, 0.3F);
  const Color across = strength * (any_color(random) - Color{0.5F, 0.5F, 0.5F});
  const Vector along = any_direction(random);
  const float scale = 1 / static_cast<float>(canvas.side);
  float* at = canvas.image;
  for (int y = 0; y < canvas.side; ++y) {
    for (int x = 0; x < canvas.side; ++x, at += 3) {
      const float t = scale * (along.x * static_cast<float>(x) + along.y * static_cast<float>(y));
      at[0] = color.r + t * across.r;
      at[1] = color.g + t * across.g;
      at[2] = color.b + t * across.b;
    }
  }
}

// A thin bar or a speck, too small to be the thing of the picture.
void paint_clutter(const Canvas& canvas, Random& random) {
  const auto side = static_cast<float>(canvas.side);
  ShapePlace place{};
  place.centre = {random.uniform(0, side), random.uniform(0, side)};
  place.turn = any_direction(random);
  const Color color = any_color(random);
  const auto plain = [color](Vector) { return color; };
  if (random.below(2) == 0) {
    place.radius = side * random.uniform(0.1F, 0.35F);
    const float half = random.uniform(0.015F, 0.03F) * side / place.radius;
    canvas.paint(
        place, 1.2F, [half](Vector p) { return std::min(half - std::abs(p.y), 1 - std::abs(p.x)); },
        plain);
  } else {
    place.radius = side * random.uniform(0.025F, 0.055F);
    canvas.paint(place, 1, disc, plain);
  }
}

// Paints a thing of the outline; color(p): there.
template <class Paint>
void paint_outline(const Canvas& canvas, const ShapePlace& place, ShapeClass outline,
                   const Paint& color) {
  switch (outline) {
    case ShapeClass::disc:
      return canvas.paint(place, kReach, disc, color);
    case ShapeClass::ring:
      return canvas.paint(place, kReach, ring, color);
    case ShapeClass::triangle:
      return canvas.paint(place, kReach, triangle, color);
    case ShapeClass::square:
      return canvas.paint(place, kReach, square, color);
    case ShapeClass::star:
      return canvas.paint(place, kReach, star, color);
    case ShapeClass::cross:
      return canvas.paint(place, kReach, cross, color);
    case ShapeClass::crescent:
      return canvas.paint(place, kReach, crescent, color);
    case ShapeClass::striped:
    case ShapeClass::checked:
    case ShapeClass::dotted:
      break;  // patterns, which lie on an outline
  }
}

void paint_thing(const Canvas& canvas, ShapeClass what, Color background, Random& random) {
  const auto side = static_cast<float>(canvas.side);
  ShapePlace place{};
  place.radius = side * random.uniform(0.28F, 0.4F);
  const float room = 0.5F * side - place.radius;
  const float middle = 0.5F * (side - 1);
  place.centre = {middle + random.uniform(-room, room), middle + random.uniform(-room, room)};
  place.turn = any_direction(random);
  const Color color = other_color(background, random);
  if (what < ShapeClass::striped) {
    return paint_outline(canvas, place, what, [color](Vector) { return color; });
  }
  const Pattern pattern(what, color, place.radius, canvas.softness, random);
  constexpr ShapeClass kOutlines[] = {ShapeClass::disc, ShapeClass::square, ShapeClass::triangle};
  paint_outline(canvas, place, kOutlines[random.below(3)], pattern);
}

// Light from one side, the camera's noise, and rounding to bytes.
void expose(const Canvas& canvas, Random& random) {
  const float gain = random.uniform(0.7F, 1.1F);
  const Vector along = any_direction(random);
  const float slope = random.uniform(0, 0.5F) / static_cast<float>(canvas.side);
  const float noise = random.uniform(0, 0.1F);
  const float middle = 0.5F * static_cast<float>(canvas.side);
  float* at = canvas.image;
  for (int y = 0; y < canvas.side; ++y) {
    for (int x = 0; x < canvas.side; ++x, at += 3) {
      const float light = gain * (1 + slope * (along.x * (static_cast<float>(x) - middle) +
                                               along.y * (static_cast<float>(y) - middle)));
      const uint64_t grain = random.next();
      for (int c = 0; c < 3; ++c) {
        const float drawn = static_cast<float>(grain >> (21 * c) & 0x1fffff) * 0x1p-21F - 0.5F;
        const float value = share(light * at[c] + noise * drawn);
        at[c] = static_cast<float>(static_cast<int>(255 * value + 0.5F)) / 255.0F;
      }
    }
  }
}

}  // namespace

void paint_shape(ShapeClass what, Random random, int side, float* image) {
  const Canvas canvas{image, side, random.uniform(0.8F, 1.6F)};
  const Color background = any_color(random);
  paint_background(canvas, background, random);
  const uint64_t behind = random.below(4);
  for (uint64_t i = 0; i < behind; ++i) paint_clutter(canvas, random);
  paint_thing(canvas, what, background, random);
  if (random.below(4) == 0) paint_clutter(canvas, random);
  expose(canvas, random);
}

}  // namespace thimble::data
