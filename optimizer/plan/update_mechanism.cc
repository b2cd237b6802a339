#include "optimizer/plan/update_mechanism.h"

#include <algorithm>
#include <array>

#include "base/quantity.h"

namespace stripline::plan {
namespace {

using Update = UpdateRequest;

constexpr uint32_t kMostItemBytes = 4096;
constexpr uint32_t kMostPercent = 100;

std::string_view words_of(const UpdateCandidate& candidate) {
  switch (candidate.method) {
    case UpdateMethod::cell_locks:
      return "a lock for each cell";
    case UpdateMethod::owner_locks:
      return "a lock for each owner";
    case UpdateMethod::provider:
      return "atomics of the fabric";
    case UpdateMethod::messages:
      return "atomics by message";
    case UpdateMethod::buffers:
    case UpdateMethod::automatic:
      break;
  }
  if (candidate.sums) return "summed up, and merged in buffers";
  return candidate.merges ? "merged in buffers" : "in buffers";
}

std::string hops_text(const UpdateCandidate& candidate) {
  if (candidate.hops == 1) return {};
  return ", " + std::to_string(candidate.hops) + " hops" +
         (candidate.by_nodes ? ", one within a node" : "");
}

}  // namespace

std::span<const Field<Update>> UpdateMechanism::fields() {
  static constexpr std::array<Field<Update>, 19> kFields = {
      field<Update, &Update::updates>("updates", "--updates", "{} updates",
                                      "Updates that a rank makes until they are to be complete")
          .within(1, kMostNumber)
          .required(),
      field<Update, &Update::cells>("cells", "--cells", " of {} cells",
                                    "Different cells among them (default: as many as updates)")
          .within(1, kMostNumber),
      bytes<Update, &Update::span_bytes>("span_bytes", "--span", " among {} of each owner",
                                         "Memory of each owner that the cells are in, e.g. 8MiB")
          .within(1, kMostExtent)
          .always(),
      bytes<Update, &Update::item_bytes>("item_bytes", "--item", ", each of {}", "Bytes of a cell")
          .within(1, kMostItemBytes)
          .always(),
      field<Update, &Update::ranks>("ranks", "--ranks", ", on {} ranks",
                                    "Ranks that own cells, and make such updates")
          .within(2, model::kMaxRanks)
          .required(),
      field<Update, &Update::local_percent>("local_percent", "--local", ", {} % of them in reach",
                                            "Percent of the updates whose cells are in reach of "
                                            "loads and stores")
          .within(0, kMostPercent),
      field<Update, &Update::hottest_percent>(
          "hottest_percent", "--hottest", ", {} % to the busiest owner",
          "Percent of all updates that go to the busiest owner (default: an equal part)")
          .within(0, kMostPercent),
      field<Update, &Update::one_value>("one_value", "--one-value", ", of one value",
                                        "All updates have the same value, as those that count do"),
      field<Update, &Update::separate>("separate", "--separate", ", each by itself",
                                       "Updates of one cell must not be merged: the operator is "
                                       "not associative, or every rounding matters"),
      field<Update, &Update::ordered>("ordered", "--ordered", ", in their order",
                                      "Updates of one rank must arrive in its order: the operator "
                                      "is not commutative"),
      field<Update, &Update::no_identity>(
          "no_identity", "--no-identity", nullptr,
          "No value leaves a cell as it is: gaps between cells cannot be filled"),
      field<Update, &Update::sums>("sums", "--sums", nullptr,
                                   "Updates may be summed up in arrays before they are sent, as "
                                   "those of numbers from the second epoch on"),
      field<Update, &Update::fetches>("fetches", "--fetch", ", old values come back",
                                      "The value before each update comes back"),
      field<Update, &Update::provider>("provider", "--provider-atomics", ", atomic in the fabric",
                                       "The fabric has the update as an atomic operation"),
      field<Update, &Update::buffers_only>("buffers_only", "--buffers-only",
                                           ", by nothing but buffers",
                                           "Leave out locks and atomic operations"),
      field<Update, &Update::most_hops>("most_hops", "--most-hops", nullptr,
                                        "The most hops that updates in buffers may make")
          .within(1, kMostUpdateHops),
      field<Update, &Update::node_ranks>(
          "node_ranks", "--node-ranks", ", {} to a node",
          "Ranks of a node that reach each other's memory, numbered one after the other")
          .within(1, model::kMaxRanks),
      bytes<Update, &Update::message_bytes>("message_bytes", "--message", nullptr,
                                            "The most that one message takes: no buffer is larger")
          .from(1),
      bytes<Update, &Update::max_buffer_bytes>("max_buffer_bytes", "--buffer", nullptr,
                                               "Memory that the plan may use for buffers "
                                               "(default: no limit)")
          .within(1, kAnyBytes)};
  return kFields;
}

Result<Update> UpdateMechanism::request_of(const Update& asked) {
  if (asked.cells > asked.updates) {
    return refused("--cells " + std::to_string(asked.cells) +
                   " are updated once at least; --updates says " + std::to_string(asked.updates));
  }
  if (asked.span_bytes < asked.item_bytes) {
    return refused("--span " + std::to_string(asked.span_bytes) +
                   " does not hold one cell; it is at least --item, " +
                   std::to_string(asked.item_bytes));
  }
  return asked;
}

void UpdateMechanism::show(const Update&, const UpdatePlan& plan, Row& row) {
  const UpdateCandidate& candidate = plan.candidate;
  row.word("method", to_string(candidate.method)).say(words_of(candidate));
  if (candidate.method != UpdateMethod::buffers) return;
  row.flag("merges", candidate.merges)
      .bytes("buffer_bytes", candidate.buffer_bytes, " of {}")
      .number("hops", candidate.hops);
  if (candidate.by_nodes) row.flag("by_nodes", true);
  if (candidate.sums) row.flag("sums", true);
  row.say(hops_text(candidate)).bytes("memory_bytes", plan.memory_bytes, ", {} together");
}

std::string UpdateMechanism::brief(const UpdatePlan& plan, std::string_view why) {
  const UpdateCandidate& candidate = plan.candidate;
  std::string text(words_of(candidate));
  if (candidate.method == UpdateMethod::buffers) {
    const char* const before = candidate.sums ? " summed up" : candidate.merges ? " merged" : "";
    text = exact_bytes_text(candidate.buffer_bytes) + before + hops_text(candidate);
  }
  return text + ", " + std::string(why);
}

void UpdateMechanism::add_to(Explanation::Alternative& alternative, const Update& request,
                             const UpdateCosts& costs, const UpdateCandidate& candidate) {
  const auto at = [&](cost::Corner corner) {
    return predict_update(request, costs, candidate, corner);
  };
  alternative.interval = {at(cost::Corner::low), at(cost::Corner::high)};
  alternative.more.seconds("update_s",
                           at(cost::Corner::nominal) / static_cast<double>(request.updates),
                           ", {} an update");
}

void UpdateMechanism::add_to(Explained<UpdateMechanism>& e, const Update& request,
                             const UpdateCosts* costs) {
  if (!e.has_times) return;
  const UpdatePlan of_best = e.record.best ? unfold(request, e.record.best->candidate) : e.decision;
  const uint64_t bytes = of_best.candidate.method == UpdateMethod::buffers
                             ? of_best.candidate.buffer_bytes
                             : kMostUpdateBufferBytes;
  e.entries.push_back(
      entry_row(bytes, costs->put().at(bytes), request.surroundings.target_polls_only)
          .say(", of a put"));
  const auto nominal = cost::Corner::nominal;
  e.model
      .seconds("append_s", costs->append(of_best.memory_bytes, nominal),
               "an update takes {} into a buffer")
      .seconds("merge_s", costs->merge(of_best.memory_bytes, nominal), ", {} merged")
      .seconds("apply_s", costs->apply(request.span_bytes, nominal), ", {} to its cell");
  if (costs->has_misses()) {
    e.model.seconds("miss_s", costs->miss(of_best.memory_bytes, nominal),
                    ", {} if it is looked for and not found");
  }
  if (costs->has_provider()) {
    e.model.seconds("provider_s", costs->provider(nominal), ", {} by the fabric");
  }
  if (costs->has_messages()) {
    e.model.seconds("message_s", costs->messages(nominal), ", {} by message");
  }
}

}  // namespace stripline::plan
