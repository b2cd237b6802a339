// The paths between two ranks that a runtime tells apart, and the entries of a model for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "optimizer/model/tuned_model.h"

namespace stripline::model {

enum class Path : uint8_t {
  network,  ///< through the fabric: between nodes, or in place of what follows
  mapped,   ///< loads and stores between ranks of a node that map each other's segments
  cma,      ///< copies by the kernel between processes of a node
};
inline constexpr size_t kPaths = 3;

/// As in model files: "inter-node", "intra-node", "intra-node-cma".
std::string_view path_name(Path path);

/// By the name of a path between ranks of a node (Options::same_node): "network", "mapped", "cma".
std::optional<Path> path_of_same_node(std::string_view same_node);

/// The entry of `network` to plan a path by, with its name: the path's own, else that of the
/// network, else the first; nullptr in a model without any.
const decltype(TunedModel::network)::value_type* find_path(const TunedModel& model, Path path);

/// The service levels that hold on a path of the model: those between nodes, or none.
std::optional<ServiceModel> service_on(const TunedModel& model, std::string_view path);

}  // namespace stripline::model
