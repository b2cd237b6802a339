// Writing SVG: elements as text, with what a viewer must not misread replaced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stripline::reports {

struct PlotPoint {
  double x = 0;
  double y = 0;
};

/// The text with &, <, > and quotes as XML wants them; control characters, which XML cannot hold,
/// become spaces.
std::string xml_text(std::string_view text);

/// Coordinates with two decimals: what a screen shows.
std::string coordinate(double value);

/// A picture of this size, to which elements are added in the order in which they are drawn.
class Svg {
 public:
  /// `title` is what is read out of it.
  Svg(double width, double height, std::string_view title);

  void line(PlotPoint from, PlotPoint to, std::string_view css_class);
  void rectangle(PlotPoint corner, double width, double height, std::string_view css_class);
  /// `anchor`: "start", "middle" or "end".
  void text(PlotPoint at, std::string_view text, std::string_view anchor,
            std::string_view css_class = "");
  /// The same, read from below upwards.
  void upright_text(PlotPoint at, std::string_view text);
  void polyline(const std::vector<PlotPoint>& points, std::string_view colour);
  /// The area between two lines over the same x.
  void band(const std::vector<PlotPoint>& low, const std::vector<PlotPoint>& high,
            std::string_view colour);
  void swatch(PlotPoint corner, std::string_view colour);

  /// The whole document.
  std::string document() const;

 private:
  std::string head_;
  std::string body_;
};

}  // namespace stripline::reports
