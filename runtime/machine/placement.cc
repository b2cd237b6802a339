#include "runtime/machine/placement.h"

#include <algorithm>
#include <hwloc.h>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

namespace stripline::machine {
namespace {

struct Core {
  Processor place;                   // any of its processors
  std::vector<uint32_t> processors;  // ascending
  uint32_t ranks = 0;
};

/// Cores with processors that may be used, those of a NUMA node, package and cache together.
std::vector<Core> cores_of(std::span<const Processor> processors) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, Core> cores;
  for (const Processor& one : processors) {
    Core& core = cores[{one.package, one.numa_node, one.cache, one.core}];
    core.place = one;
    core.processors.push_back(one.number);
  }
  std::vector<Core> list;
  for (auto& [key, core] : cores) {
    std::ranges::sort(core.processors);
    list.push_back(std::move(core));
  }
  return list;
}

/// Gives every rank a core.
void spread(std::vector<Core>& cores, uint32_t ranks) {
  std::map<uint32_t, uint32_t> on_node;
  std::map<uint32_t, uint32_t> on_package;
  std::map<uint32_t, uint32_t> on_cache;
  for (uint32_t i = 0; i < ranks; ++i) {
    const auto load = [&](const Core& core) {
      return std::tuple(core.ranks == core.processors.size(), core.ranks,
                        on_node[core.place.numa_node], on_package[core.place.package],
                        on_cache[core.place.cache]);
    };
    Core& chosen = *std::ranges::min_element(
        cores, [&](const Core& a, const Core& b) { return load(a) < load(b); });
    ++chosen.ranks;
    ++on_node[chosen.place.numa_node];
    ++on_package[chosen.place.package];
    ++on_cache[chosen.place.cache];
  }
}

/// The number of the object of this type around a processor; of the machine if there is none.
uint32_t around(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t processor) {
  const hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(topology, type, processor);
  return object == nullptr ? 0 : object->logical_index;
}

}  // namespace

std::vector<Processor> processors_of(hwloc_topology* topology) {
  std::vector<Processor> processors;
  hwloc_obj_t one = nullptr;
  while ((one = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, one)) != nullptr) {
    Processor processor;
    processor.number = one->os_index;
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, one);
    processor.core = core == nullptr ? one->logical_index : core->logical_index;
    processor.cache = around(topology, HWLOC_OBJ_L3CACHE, one);
    processor.package = around(topology, HWLOC_OBJ_PACKAGE, one);
    const int node = one->nodeset == nullptr ? -1 : hwloc_bitmap_first(one->nodeset);
    processor.numa_node = node < 0 ? 0 : static_cast<uint32_t>(node);
    processors.push_back(processor);
  }
  return processors;
}

std::vector<Processor> allowed_processors() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return {};
  const std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> owned(topology,
                                                                          hwloc_topology_destroy);
  hwloc_topology_set_flags(
      topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  return hwloc_topology_load(topology) == 0 ? processors_of(topology) : std::vector<Processor>();
}

std::vector<std::vector<uint32_t>> place_ranks(std::span<const Processor> processors,
                                               uint32_t ranks) {
  if (ranks > processors.size()) return {};
  std::vector<Core> cores = cores_of(processors);
  spread(cores, ranks);
  std::vector<std::vector<uint32_t>> placement;
  for (const Core& core : cores) {
    for (size_t i = 0; i < core.ranks; ++i) {
      const size_t begin = i * core.processors.size() / core.ranks;
      const size_t end = (i + 1) * core.processors.size() / core.ranks;
      placement.emplace_back(core.processors.begin() + static_cast<ptrdiff_t>(begin),
                             core.processors.begin() + static_cast<ptrdiff_t>(end));
    }
  }
  return placement;
}

std::vector<std::vector<uint32_t>> place_ranks_beside(std::span<const Processor> processors,
                                                      std::span<const uint32_t> taken,
                                                      uint32_t ranks) {
  const auto is_taken = [taken](uint32_t number) {
    return std::ranges::find(taken, number) != taken.end();
  };
  std::vector<Processor> left;
  std::set<std::pair<uint32_t, uint32_t>> touched;  // package and core
  for (const Processor& one : processors) {
    if (is_taken(one.number)) {
      touched.emplace(one.package, one.core);
    } else {
      left.push_back(one);
    }
  }
  std::vector<Processor> untouched = left;
  std::erase_if(untouched, [&touched](const Processor& one) {
    return touched.contains({one.package, one.core});
  });
  auto placement = place_ranks(untouched, ranks);
  return placement.empty() ? place_ranks(left, ranks) : placement;
}

}  // namespace stripline::machine
