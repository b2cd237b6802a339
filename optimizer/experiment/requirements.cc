#include "optimizer/experiment/requirements.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "optimizer/experiment/catalogue.h"

namespace stripline::experiment {
namespace {

bool is_square(uint32_t ranks) {
  const auto root = static_cast<uint32_t>(std::lround(std::sqrt(static_cast<double>(ranks))));
  return uint64_t{root} * root == ranks;
}

bool divides(RankCount allowed, uint32_t ranks) {
  switch (allowed) {
    case RankCount::any:
      return true;
    case RankCount::power_of_two:
      return std::has_single_bit(ranks);
    case RankCount::square:
      return is_square(ranks);
  }
  return true;
}

}  // namespace

Requirements requirements_of(const Experiment& experiment) {
  const auto has = [&](const char* name) {
    return std::ranges::find(experiment.factors, name, &Factor::name) != experiment.factors.end();
  };
  return {has(factor::kSameNode), has(factor::kNodes),
          std::ranges::find(experiment.variants, variant::kThread) != experiment.variants.end(),
          has(factor::kWorkers)};
}

bool is_emulated(const std::string& fabric) { return fabric.starts_with("emulated:"); }

std::optional<std::string> unmet_requirement(const Experiment& experiment,
                                             const Surroundings& surroundings) {
  const std::string what = "experiment '" + experiment.name + "' ";
  const std::string ranks = std::to_string(surroundings.ranks);
  if (surroundings.ranks < experiment.min_ranks || surroundings.ranks > experiment.max_ranks) {
    return what + "takes " + std::to_string(experiment.min_ranks) + " to " +
           std::to_string(experiment.max_ranks) + " ranks, not " + ranks +
           "; ask for another number of ranks";
  }
  if (!divides(experiment.rank_count, surroundings.ranks)) {
    return what + "takes " + describe(experiment.rank_count) + " as its number of ranks, not " +
           ranks + "; ask for another number of ranks";
  }
  if (!is_emulated(surroundings.fabric)) return std::nullopt;
  const Requirements required = requirements_of(experiment);
  if (required.same_node) {
    return what + "measures what ranks of one node have beside the network, and '" +
           surroundings.fabric + "' stands between all ranks; take a fabric such as tcp";
  }
  if (required.progress_thread) {
    return what + "needs a thread that serves ranks, and no thread can serve those of '" +
           surroundings.fabric + "'; take a fabric such as tcp";
  }
  if (required.processors) {
    return what + "measures the processors of a machine, whose times are not those of '" +
           surroundings.fabric + "'; take a fabric such as tcp";
  }
  return std::nullopt;
}

}  // namespace stripline::experiment
