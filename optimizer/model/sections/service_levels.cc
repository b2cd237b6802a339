#include "optimizer/model/sections/service_levels.h"

#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

constexpr std::array<std::string_view, 2> kScales = {"switches", "numbers"};

Form<std::vector<ServiceLevel>> levels_form() {
  using L = ServiceLevel;
  return curve(
      object<L>("service_level",
                {required("nodes", &L::nodes, ranks(2)),
                 required("distance", &L::distance, number<uint32_t>(0, kDistances - 1)),
                 required("bytes", &L::bytes, bytes(1)), required("best", &L::best, ratio()),
                 required("worst", &L::worst, ratio())}),
      {[](const L& a, const L& b) {
         return std::tie(a.nodes, a.distance, a.bytes) < std::tie(b.nodes, b.distance, b.bytes);
       },
       "levels must ascend by nodes, then distance, then bytes"});
}

std::string service_text(const TunedModel& model) {
  if (!model.service_levels) return {};
  const ServiceModel& service = *model.service_levels;
  Table table({{"operation"},
               {"nodes"},
               {"distance in " + std::string(to_string(service.scale))},
               {"size"},
               {"best served"},
               {"worst served"}});
  for (const auto& [name, levels] :
       {std::pair("get", &service.get), std::pair("put", &service.put)}) {
    for (const ServiceLevel& level : *levels) {
      table.add({name, std::to_string(level.nodes), std::to_string(level.distance),
                 bytes_text(level.bytes), number_text(level.best.value),
                 number_text(level.worst.value)});
    }
  }
  return titled("service levels, times as long as between two nodes alone", table);
}

// Nodes of one switch leave each other alone; beyond it two, and among 16 nodes four, share a
// link.
void add_service_levels_example(TunedModel& model) {
  const auto level = [](uint32_t nodes, uint32_t distance, double best, double worst) {
    return ServiceLevel{nodes, distance, 65536, example_parameter(best), example_parameter(worst)};
  };
  const std::vector<ServiceLevel> levels = {level(4, 0, 1, 1), level(4, 1, 1.5, 2),
                                            level(16, 0, 1, 1), level(16, 1, 2, 2),
                                            level(16, 2, 3, 4)};
  model.service_levels = ServiceModel{DistanceScale::switches, levels, {levels[0], levels[1]}};
}

}  // namespace

std::string_view to_string(DistanceScale scale) { return kScales.at(static_cast<size_t>(scale)); }

std::optional<DistanceScale> distance_scale_from(std::string_view name) {
  for (size_t i = 0; i < kScales.size(); ++i) {
    if (kScales[i] == name) return static_cast<DistanceScale>(i);
  }
  return std::nullopt;
}

Section service_levels_section() {
  const auto form = object<ServiceModel>(
      nullptr,
      {required("distance", &ServiceModel::scale,
                one_of<DistanceScale>({DistanceScale::switches, DistanceScale::numbers})),
       unless_empty("get", &ServiceModel::get, levels_form()),
       unless_empty("put", &ServiceModel::put, levels_form())},
      [](const std::string& where, const ServiceModel& service) -> Status {
        if (!service.get.empty() || !service.put.empty()) return {};
        return wrong(where, "needs levels of get or of put");
      });
  return {optional("service_levels", &TunedModel::service_levels, form), service_text,
          add_service_levels_example, "loops where other nodes communicate"};
}

}  // namespace stripline::model
