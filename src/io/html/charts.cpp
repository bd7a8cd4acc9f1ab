#include "io/html/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/base64.h"
#include "io/html/assets.h"

namespace thimble::io {
namespace {

constexpr const char* kColours[] = {"var(--a)", "var(--b)", "var(--c)", "var(--soft)"};

std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '&') {
      made += "&amp;";
    } else if (c == '<') {
      made += "&lt;";
    } else if (c == '>') {
      made += "&gt;";
    } else if (c == '"') {
      made += "&quot;";
    } else {
      made += c;
    }
  }
  return made;
}

// A step between marks of an axis of this length, of which there are about five: 1, 2 or 5 times a
// power of ten.
double mark_step(double length) {
  if (!(length > 0.0)) return 1.0;
  const double rough = length / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (rough <= times * power) return times * power;
  }
  return 10.0 * power;
}

std::string line(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"var(--line)\"/>\n",
      x1, y1, x2, y2);
}

std::string text(double x, double y, const char* anchor, const std::string& shown) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"var(--ink)\">{}</text>\n", x, y,
      anchor, escaped(shown));
}

std::string head_of(const std::string& title, const std::string& caption) {
  return fmt::format("<h2>{}</h2>\n<p>{}</p>\n", escaped(title), escaped(caption));
}

std::string svg(double width, double height, const std::string& inside) {
  return fmt::format(
      "<div class=\"panel scroll\"><svg viewBox=\"0 0 {0:.0f} {1:.0f}\" style=\"width: 100%; "
      "min-width: 600px\" font-size=\"12\" font-family=\"system-ui, "
      "sans-serif\">\n{2}</svg></div>\n",
      width, height, inside);
}

std::string drawn(const PictureOfPage& picture) {
  return head_of(picture.title, picture.caption) +
         fmt::format(
             "<div class=\"panel scroll\"><img alt=\"{}\" style=\"width: 100%; min-width: 600px; "
             "image-rendering: pixelated\" src=\"data:image/png;base64,{}\"></div>\n",
             escaped(picture.title), base64(picture.png));
}

std::string drawn(const BarChart& chart) {
  constexpr double kLeft = 220;
  constexpr double kWide = 640;
  constexpr double kBar = 9;
  const auto series = static_cast<double>(std::max<size_t>(chart.series.size(), 1));
  const double row = series * kBar + 6;
  double low = 0.0;
  double high = 0.0;
  for (const BarChart::Row& one : chart.rows) {
    for (const double value : one.values) {
      if (std::isnan(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low == high) high = low + 1.0;
  const auto x = [&](double value) { return kLeft + (value - low) / (high - low) * kWide; };
  const double bottom = 24 + row * static_cast<double>(chart.rows.size());
  std::string inside;
  const double step = mark_step(high - low);
  for (double mark = std::ceil(low / step) * step; mark <= high + step * 1e-9; mark += step) {
    inside += line(x(mark), 20, x(mark), bottom);
    inside +=
        text(x(mark), 14, "middle", fmt::format("{:.4g}", std::abs(mark) < step / 2 ? 0.0 : mark));
  }
  for (size_t r = 0; r < chart.rows.size(); ++r) {
    const double top = 24 + row * static_cast<double>(r);
    inside += text(kLeft - 8, top + row / 2 + 3, "end", chart.rows[r].label);
    for (size_t s = 0; s < chart.rows[r].values.size(); ++s) {
      const double value = chart.rows[r].values[s];
      if (std::isnan(value)) continue;
      const double from = std::min(x(0.0), x(value));
      inside += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\">"
          "<title>{} {}: {:.4g}</title></rect>\n",
          from, top + kBar * static_cast<double>(s), std::max(std::abs(x(value) - x(0.0)), 1.0),
          kBar - 1, kColours[s % std::size(kColours)], escaped(chart.rows[r].label),
          s < chart.series.size() ? escaped(chart.series[s]) : "", value);
    }
  }
  std::string legend;
  for (size_t s = 0; chart.series.size() > 1 && s < chart.series.size(); ++s) {
    legend += fmt::format("<span><i style=\"background:{}\"></i>{}</span>",
                          kColours[s % std::size(kColours)], escaped(chart.series[s]));
  }
  if (!legend.empty()) legend = "<div class=\"legend\">" + legend + "</div>\n";
  return head_of(chart.title, chart.caption) + legend + svg(kLeft + kWide + 40, bottom + 8, inside);
}

std::string drawn(const PointChart& chart) {
  constexpr double kLeft = 70;
  constexpr double kWide = 760;
  constexpr double kTop = 16;
  constexpr double kHigh = 320;
  double low[2] = {};
  double high[2] = {1.0, 1.0};
  for (size_t i = 0; i < chart.points.size(); ++i) {
    const double at[2] = {chart.points[i].x, chart.points[i].y};
    for (int axis = 0; axis < 2; ++axis) {
      low[axis] = i == 0 ? at[axis] : std::min(low[axis], at[axis]);
      high[axis] = i == 0 ? at[axis] : std::max(high[axis], at[axis]);
    }
  }
  for (int axis = 0; axis < 2; ++axis) {
    const double margin = high[axis] > low[axis] ? (high[axis] - low[axis]) * 0.05 : 1.0;
    low[axis] -= margin;
    high[axis] += margin;
  }
  const auto x = [&](double v) { return kLeft + (v - low[0]) / (high[0] - low[0]) * kWide; };
  const auto y = [&](double v) { return kTop + (high[1] - v) / (high[1] - low[1]) * kHigh; };
  std::string inside;
  const double step_x = mark_step(high[0] - low[0]);
  for (double mark = std::ceil(low[0] / step_x) * step_x; mark <= high[0]; mark += step_x) {
    inside += line(x(mark), kTop, x(mark), kTop + kHigh);
    inside += text(x(mark), kTop + kHigh + 16, "middle", fmt::format("{:.6g}", mark));
  }
  const double step_y = mark_step(high[1] - low[1]);
  for (double mark = std::ceil(low[1] / step_y) * step_y; mark <= high[1]; mark += step_y) {
    inside += line(kLeft, y(mark), kLeft + kWide, y(mark));
    inside += text(kLeft - 6, y(mark) + 4, "end", fmt::format("{:.4g}", mark));
  }
  std::string places;
  for (const PointChart::Point& point : chart.points) {
    places += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.y));
  }
  inside += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"var(--a)\" stroke-width=\"1.5\"/>\n", places);
  for (const PointChart::Point& point : chart.points) {
    inside += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" "
        "fill=\"var({})\"><title>{}</title></circle>\n",
        x(point.x), y(point.y), point.marked ? 6 : 4, point.marked ? "--b" : "--a",
        escaped(point.label));
  }
  inside += text(kLeft + kWide / 2, kTop + kHigh + 36, "middle", chart.x_label);
  inside += fmt::format(
      "<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
      "fill=\"var(--ink)\">{}</text>\n",
      kTop + kHigh / 2, escaped(chart.y_label));
  return head_of(chart.title, chart.caption) + svg(kLeft + kWide + 20, kTop + kHigh + 46, inside);
}

}  // namespace

std::string chart_page_html(const ChartPage& page) {
  std::string body = fmt::format("<h1>{}</h1>\n<div class=\"facts\">\n", escaped(page.title));
  for (const auto& [name, value] : page.facts) {
    body += fmt::format("<div class=\"fact\"><b>{}</b>{}</div>\n", escaped(name), escaped(value));
  }
  body += "</div>\n";
  for (const PictureOfPage& picture : page.pictures) body += drawn(picture);
  for (const PointChart& chart : page.points) body += drawn(chart);
  for (const BarChart& chart : page.bars) body += drawn(chart);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(page.title), kReportStyle, body);
}

}  // namespace thimble::io
