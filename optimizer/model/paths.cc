#include "optimizer/model/paths.h"

#include <array>
#include <string>

namespace stripline::model {
namespace {

struct Names {
  std::string_view path;
  std::string_view same_node;
};

constexpr std::array<Names, kPaths> kNames = {
    {{"inter-node", "network"}, {"intra-node", "mapped"}, {"intra-node-cma", "cma"}}};

}  // namespace

std::string_view path_name(Path path) { return kNames.at(static_cast<size_t>(path)).path; }

std::optional<Path> path_of_same_node(std::string_view same_node) {
  for (size_t i = 0; i < kPaths; ++i) {
    if (kNames.at(i).same_node == same_node) return static_cast<Path>(i);
  }
  return std::nullopt;
}

const decltype(TunedModel::network)::value_type* find_path(const TunedModel& model, Path path) {
  for (const Path tried : {path, Path::network}) {
    const auto found = model.network.find(std::string(path_name(tried)));
    if (found != model.network.end()) return &*found;
  }
  return model.network.empty() ? nullptr : &*model.network.begin();
}

std::optional<ServiceModel> service_on(const TunedModel& model, std::string_view path) {
  return path == path_name(Path::network) ? model.service_levels : std::nullopt;
}

}  // namespace stripline::model
