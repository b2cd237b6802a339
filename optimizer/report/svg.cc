#include "optimizer/report/svg.h"

#include "base/formatted.h"

namespace stripline::reports {
namespace {

// Readable on white paper and, as the ground is drawn, on dark pages.
constexpr std::string_view kStyle =
    "<style>text{font:12px system-ui,sans-serif;fill:#17212b}.title{font-size:15px;font-weight:600}"
    ".quiet{fill:#566472}.ground{fill:#fff}.grid{stroke:#d9e0e6}.frame{fill:none;stroke:#566472}"
    ".break{stroke:#566472;stroke-dasharray:4 4}</style>";

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + xml_text(value) + "\"";
}

std::string number(std::string_view name, double value) {
  return attribute(name, coordinate(value));
}

std::string points_text(const std::vector<PlotPoint>& points) {
  std::string text;
  for (const PlotPoint& point : points) {
    text += (text.empty() ? "" : " ") + coordinate(point.x) + "," + coordinate(point.y);
  }
  return text;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string coordinate(double value) { return formatted("%.2f", value); }

Svg::Svg(double width, double height, std::string_view title)
    : head_("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"" + number("width", width) +
            number("height", height) +
            attribute("viewBox", "0 0 " + coordinate(width) + " " + coordinate(height)) +
            ">\n<title>" + xml_text(title) + "</title>\n" + std::string(kStyle) + "\n") {
  rectangle({0, 0}, width, height, "ground");
}

void Svg::line(PlotPoint from, PlotPoint to, std::string_view css_class) {
  body_ += "<line" + attribute("class", css_class) + number("x1", from.x) + number("y1", from.y) +
           number("x2", to.x) + number("y2", to.y) + "/>\n";
}

void Svg::rectangle(PlotPoint corner, double width, double height, std::string_view css_class) {
  body_ += "<rect" + attribute("class", css_class) + number("x", corner.x) + number("y", corner.y) +
           number("width", width) + number("height", height) + "/>\n";
}

void Svg::text(PlotPoint at, std::string_view text, std::string_view anchor,
               std::string_view css_class) {
  body_ += "<text" + number("x", at.x) + number("y", at.y) + attribute("text-anchor", anchor) +
           (css_class.empty() ? "" : attribute("class", css_class)) + ">" + xml_text(text) +
           "</text>\n";
}

void Svg::upright_text(PlotPoint at, std::string_view text) {
  const std::string turn = "rotate(-90 " + coordinate(at.x) + " " + coordinate(at.y) + ")";
  body_ += "<text" + number("x", at.x) + number("y", at.y) + attribute("text-anchor", "middle") +
           attribute("class", "quiet") + attribute("transform", turn) + ">" + xml_text(text) +
           "</text>\n";
}

void Svg::polyline(const std::vector<PlotPoint>& points, std::string_view colour) {
  body_ += "<polyline fill=\"none\" stroke-width=\"2\"" + attribute("stroke", colour) +
           attribute("points", points_text(points)) + "/>\n";
}

void Svg::band(const std::vector<PlotPoint>& low, const std::vector<PlotPoint>& high,
               std::string_view colour) {
  std::vector<PlotPoint> around = low;
  around.insert(around.end(), high.rbegin(), high.rend());
  body_ += "<polygon fill-opacity=\"0.18\"" + attribute("fill", colour) +
           attribute("points", points_text(around)) + "/>\n";
}

void Svg::swatch(PlotPoint corner, std::string_view colour) {
  body_ += "<rect width=\"16\" height=\"10\" rx=\"2\"" + number("x", corner.x) +
           number("y", corner.y) + attribute("fill", colour) + "/>\n";
}

std::string Svg::document() const { return head_ + body_ + "</svg>\n"; }

}  // namespace stripline::reports
