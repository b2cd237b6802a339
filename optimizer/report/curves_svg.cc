#include "optimizer/report/curves_svg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/quantity.h"
#include "optimizer/cost/link_costs.h"
#include "optimizer/plan/ask.h"
#include "optimizer/report/svg.h"

namespace stripline::reports {
namespace {

constexpr double kWidth = 860;
constexpr double kPanel = 400;
constexpr double kLeft = 84;
constexpr double kRight = 20;
constexpr double kTop = 64;
constexpr double kBottom = 48;
constexpr int kPerOctave = 4;

struct Curve {
  const char* operation;
  const char* colour;  // differ also for people who see few (after Okabe and Ito)
  cost::LinkCosts costs;
};

double seconds_of(const Curve& curve, Quantity quantity, uint64_t bytes, cost::Corner corner) {
  const cost::MessageCosts& message = curve.costs.at(bytes, corner);
  const auto size = static_cast<double>(bytes);
  switch (quantity) {
    case Quantity::stream:
      return message.stream(size);
    case Quantity::issue:
      return message.o(size);
    case Quantity::blocking:
      break;
  }
  const bool is_message = std::string_view(curve.operation) == "am";
  return is_message ? message.one_way(size) : message.blocking(size);
}

const char* description(Quantity quantity) {
  switch (quantity) {
    case Quantity::stream:
      return "an operation of a long stream: max(o + r, g + G S)";
    case Quantity::issue:
      return "the processor's time to issue one: o";
    case Quantity::blocking:
      break;
  }
  return "one operation, waited for: o + 2 L + G S + r; a message: o + L + G S + r";
}

std::vector<Curve> curves_of(const model::PathModel& path) {
  std::vector<Curve> curves;
  if (path.put) curves.push_back({"put", "#0072b2", cost::LinkCosts(*path.put)});
  if (path.get) curves.push_back({"get", "#d97706", cost::LinkCosts(*path.get)});
  if (path.am) curves.push_back({"am", "#009e73", cost::LinkCosts(*path.am)});
  return curves;
}

// Some to a doubling, and both sides of where a segment begins.
std::vector<uint64_t> sizes_of(const Curve& curve, const model::Domain& domain) {
  const uint64_t least = std::max<uint64_t>(domain.min_bytes, 1);
  const uint64_t most = std::max(domain.max_bytes, least);
  std::set<uint64_t> sizes = {least, most};
  const auto octaves = [](uint64_t bytes) {
    return kPerOctave * std::log2(static_cast<double>(bytes));
  };
  for (int k = static_cast<int>(std::ceil(octaves(least))); k <= octaves(most); ++k) {
    sizes.insert(static_cast<uint64_t>(std::llround(std::exp2(double{1} * k / kPerOctave))));
  }
  for (const uint64_t at : curve.costs.breakpoints()) {
    if (at > least && at <= most) sizes.insert({at - 1, at});
  }
  return {sizes.lower_bound(least), sizes.upper_bound(most)};
}

// A logarithmic axis from values to coordinates.
struct LogScale {
  double low = 0;
  double high = 0;
  double from = 0;
  double to = 0;

  double at(double value) const {
    const double part = std::log(std::clamp(value, low, high) / low) / std::log(high / low);
    return from + part * (to - from);
  }
};

class Panel {
 public:
  Panel(Svg& svg, double top, const model::Domain& domain, Quantity quantity)
      : svg_(svg), domain_(domain), quantity_(quantity), top_(top) {}

  void draw(const std::string& path, const std::vector<Curve>& curves) {
    set_axes(curves);
    svg_.text({kLeft, top_ + 24}, path, "start", "title");
    svg_.text({kLeft, top_ + 44}, description(quantity_), "start", "quiet");
    draw_grid();
    double legend = kWidth - kRight - 70.0 * static_cast<double>(curves.size());
    for (const Curve& curve : curves) {
      draw(curve);
      svg_.swatch({legend, top_ + 14}, curve.colour);
      svg_.text({legend + 22, top_ + 24}, curve.operation, "start");
      legend += 70;
    }
    svg_.rectangle({kLeft, y_.to}, kWidth - kLeft - kRight, y_.from - y_.to, "frame");
  }

 private:
  void set_axes(const std::vector<Curve>& curves) {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const Curve& curve : curves) {
      for (const uint64_t bytes : sizes_of(curve, domain_)) {
        for (const auto corner : {cost::Corner::low, cost::Corner::nominal, cost::Corner::high}) {
          const double seconds = seconds_of(curve, quantity_, bytes, corner);
          if (seconds <= 0) continue;
          low = std::min(low, seconds);
          high = std::max(high, seconds);
        }
      }
    }
    if (high == 0) low = high = 1e-6;
    low = std::pow(10, std::floor(std::log10(low)));
    high = std::pow(10, std::ceil(std::log10(high)));
    if (high <= low) high = 10 * low;
    y_ = {low, high, top_ + kPanel - kBottom, top_ + kTop};
    const auto least = static_cast<double>(std::max<uint64_t>(domain_.min_bytes, 1));
    x_ = {least, std::max(static_cast<double>(domain_.max_bytes), 2 * least), kLeft,
          kWidth - kRight};
  }

  void draw_grid() {
    for (double seconds = y_.low; seconds < 1.5 * y_.high; seconds *= 10) {
      svg_.line({kLeft, y_.at(seconds)}, {kWidth - kRight, y_.at(seconds)}, "grid");
      svg_.text({kLeft - 8, y_.at(seconds) + 4}, seconds_text(seconds), "end");
    }
    for (double bytes = std::exp2(std::ceil(std::log2(x_.low))); bytes <= x_.high; bytes *= 4) {
      svg_.line({x_.at(bytes), y_.from}, {x_.at(bytes), y_.to}, "grid");
      svg_.text({x_.at(bytes), y_.from + 18}, bytes_text(static_cast<uint64_t>(bytes)), "middle");
    }
    svg_.text({(kLeft + kWidth - kRight) / 2, y_.from + 38}, "bytes of an operation", "middle",
              "quiet");
    svg_.upright_text({16, (y_.from + y_.to) / 2}, "time");
  }

  std::vector<PlotPoint> line_of(const Curve& curve, const std::vector<uint64_t>& sizes,
                                 cost::Corner corner) const {
    std::vector<PlotPoint> points;
    for (const uint64_t bytes : sizes) {
      const double seconds = seconds_of(curve, quantity_, bytes, corner);
      points.push_back({x_.at(static_cast<double>(bytes)), y_.at(std::max(seconds, y_.low))});
    }
    return points;
  }

  void draw(const Curve& curve) {
    const auto sizes = sizes_of(curve, domain_);
    for (const uint64_t at : curve.costs.breakpoints()) {
      const auto bytes = static_cast<double>(at);
      if (bytes <= x_.low || bytes >= x_.high) continue;
      svg_.line({x_.at(bytes), y_.from}, {x_.at(bytes), y_.to}, "break");
    }
    svg_.band(line_of(curve, sizes, cost::Corner::low), line_of(curve, sizes, cost::Corner::high),
              curve.colour);
    svg_.polyline(line_of(curve, sizes, cost::Corner::nominal), curve.colour);
  }

  Svg& svg_;
  const model::Domain& domain_;
  const Quantity quantity_;
  const double top_;
  LogScale x_;
  LogScale y_;
};

}  // namespace

const std::vector<std::string>& quantity_names() {
  static const std::vector<std::string> kNames = {"blocking", "stream", "issue"};
  return kNames;
}

Quantity quantity_named(std::string_view name) {
  const auto& names = quantity_names();
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? Quantity::blocking : static_cast<Quantity>(found - names.begin());
}

Result<std::string> curves_svg(const model::TunedModel& model, const CurvesOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const plan::NamedPath* const first,
                             plan::path_named(model, options.path));
  std::vector<const plan::NamedPath*> paths;
  if (!options.path.empty()) {
    paths.push_back(first);
  } else {
    for (const auto& named : model.network) paths.push_back(&named);
  }
  Svg svg(kWidth, kPanel * static_cast<double>(paths.size()),
          "Model " + model.name + ": time by size");
  for (size_t i = 0; i < paths.size(); ++i) {
    Panel(svg, kPanel * static_cast<double>(i), model.domain, options.quantity)
        .draw(model.name + ", " + paths[i]->first, curves_of(paths[i]->second));
  }
  return svg.document();
}

}  // namespace stripline::reports
