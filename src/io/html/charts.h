// Pages with simple charts, drawn as SVG: one HTML file without references to anything outside.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace thimble::io {

// Rows of bars; the bars of a row belong to the series in turn.
struct BarChart {
  std::string title;
  std::string caption;
  std::vector<std::string> series;  // their names; at most 4
  struct Row {
    std::string label;
    std::vector<double> values;  // of the series; NaN: there is none
  };
  std::vector<Row> rows;
};

// Points with x and y, joined by a line in their order.
struct PointChart {
  std::string title;
  std::string caption;
  std::string x_label;
  std::string y_label;
  struct Point {
    double x = 0.0;
    double y = 0.0;
    std::string label;  // shown by the pointer
    bool marked = false;
  };
  std::vector<Point> points;
};

// A picture by its PNG bytes, shown at least 600 pixels wide.
struct PictureOfPage {
  std::string title;
  std::string caption;
  std::string png;
};

struct ChartPage {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // name and value, in order
  std::vector<PictureOfPage> pictures;
  std::vector<BarChart> bars;
  std::vector<PointChart> points;
};

[[nodiscard]] std::string chart_page_html(const ChartPage& page);

}  // namespace thimble::io
