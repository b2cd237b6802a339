#include "runtime/rma/model_use.h"

#include <set>
#include <vector>

#include "optimizer/model/paths.h"
#include "runtime/rma/context_state.h"

namespace stripline::rma {
namespace {

constexpr const char* kThroughFabric =
    "'stripline run --same-node network' takes ranks of one host through the fabric, as ranks of "
    "different hosts";

}  // namespace

std::string model_use_text(const detail::ContextState& state) {
  if (state.job.model() == nullptr || state.job.ranks() == 1) return {};
  const std::string model = "model '" + state.job.model()->name + "'";
  if (state.job.model()->network.empty()) {
    return "stripline: " + model +
           " has no path between ranks: its campaign measured no transfers, and loops, nests and "
           "transfers go as without a model; measure with two ranks or more ('stripline campaign "
           "run')\n";
  }
  if (state.memory.all_shared()) {
    return "stripline: " + model +
           " plans no loops, nests and transfers here: all ranks reach each other's segments by "
           "loads and stores; " +
           kThroughFabric + "\n";
  }
  std::string text;
  std::set<model::Path> said;
  for (rank_t peer = 0; peer < state.job.ranks(); ++peer) {
    if (state.memory.reachable(peer) != nullptr) continue;
    const model::Path path = state.job.path_to(peer);
    const auto* const entry = model::find_path(*state.job.model(), path);
    if (entry->first == model::path_name(path) || !said.insert(path).second) continue;
    text += "stripline: " + model + " has no path " + std::string(model::path_name(path)) +
            ", by which rank " + std::to_string(state.job.rank()) + " reaches rank " +
            std::to_string(peer) + "; it plans by " + entry->first + " instead\n";
  }
  return text;
}

std::string nothing_traced_text(const detail::ContextState& state) {
  if (!state.memory.any_shared()) return "(none: rank 0 carried out no such call)\n";
  return std::string(
             "(none: rank 0 carried out no such call, or only where loads and stores reach; ") +
         kThroughFabric + ")\n";
}

std::string unapplied_rules_text(Context& context) {
  detail::ContextState& state = context.state();
  // Before any sum of ranks, which is decided on, too.
  const std::vector<plan::ScoreMap::Use> uses = state.job.tuning().forced.uses();
  if (uses.empty()) return {};
  state.job.activity() = "leaving the job";
  state.mechanisms.groups().world().barrier.wait(sync::Collective::leave);
  std::string list;
  for (const plan::ScoreMap::Use& use : uses) {
    const uint64_t applied = use.applied ? 1 : 0;
    if (context.reduce_all(applied, Context::ReduceOp::sum) > 0) continue;
    list += (list.empty() ? "'" : ", '") + use.rule + "'";
  }
  if (list.empty() || context.rank_me() != 0) return {};
  return "stripline: STRIPLINE_TUNING forced nothing by " + list +
         ": no request of that kind and size came, a later rule or the program decided on them, or "
         "they do not allow the method\n";
}

}  // namespace stripline::rma
