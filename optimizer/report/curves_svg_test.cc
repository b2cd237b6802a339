#include "optimizer/report/curves_svg.h"

#include <regex>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/cost/link_costs.h"
#include "optimizer/model/example.h"
#include "optimizer/report/svg.h"

namespace stripline::reports {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Svg, TextCannotBecomeMarkup) {
  EXPECT_EQ(xml_text("a<b & \"c\">\n"), "a&lt;b &amp; &quot;c&quot;&gt; ");
  Svg svg(10, 20, "</title><script>");
  EXPECT_EQ(svg.document().find("<script>"), std::string::npos);
}

TEST(CurvesSvg, DrawsEveryOperationOfEveryPath) {
  model::TunedModel model = model::full_example();
  model.network["intra-node"] = model.network["inter-node"];
  ASSERT_OK_AND_ASSIGN(const auto svg, curves_svg(model, {}));
  EXPECT_EQ(count(svg, "<polyline"), 6U);
  EXPECT_EQ(count(svg, "<polygon"), 6U);
  EXPECT_EQ(count(svg, "<svg"), 1U);
  EXPECT_EQ(count(svg, "</svg>"), 1U);
  EXPECT_NE(svg.find("example, intra-node"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  ASSERT_OK_AND_ASSIGN(const auto one, curves_svg(model, {.path = "intra-node"}));
  EXPECT_EQ(count(one, "<polyline"), 3U);
  EXPECT_EQ(curves_svg(model, {.path = "nowhere"}).error().code(), ErrorCode::invalid_argument);
  model.network.clear();
  EXPECT_EQ(curves_svg(model, {}).error().code(), ErrorCode::failed_precondition);
}

TEST(CurvesSvg, AHigherTimeStandsHigher) {
  const model::TunedModel model = model::full_example();
  ASSERT_OK_AND_ASSIGN(const auto svg, curves_svg(model, {.path = "inter-node"}));
  // The ends of the first curve, put.
  std::smatch found;
  const std::regex line("<polyline[^>]*points=\"([0-9.]+),([0-9.]+) .* ([0-9.]+),([0-9.]+)\"");
  ASSERT_TRUE(std::regex_search(svg, found, line));
  EXPECT_LT(std::stod(found[1]), std::stod(found[3]));
  EXPECT_GT(std::stod(found[2]), std::stod(found[4])) << "y grows downwards";
}

TEST(CurvesSvg, QuantitiesDiffer) {
  const model::TunedModel model = model::full_example();
  EXPECT_EQ(quantity_named("stream"), Quantity::stream);
  EXPECT_EQ(quantity_named("?"), Quantity::blocking);
  std::string last;
  for (const std::string& name : quantity_names()) {
    ASSERT_OK_AND_ASSIGN(const auto svg, curves_svg(model, {.quantity = quantity_named(name)}));
    EXPECT_NE(svg, last) << name;
    last = svg;
  }
}

}  // namespace
}  // namespace stripline::reports
