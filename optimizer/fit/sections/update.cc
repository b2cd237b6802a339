#include <map>
#include <utility>

#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/section_fits.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;
namespace variant = experiment::variant;

// Taken from the longest stream in which it was measured.
std::optional<model::Parameter> streamed(const SampleTable& table, const char* method,
                                         double confidence) {
  const SampleRow* longest = nullptr;
  for (const SampleRow& row : table.rows(micro::kAtomic)) {
    if (row.variant == method) longest = &row;  // they ascend
  }
  return over_runs(longest, confidence);
}

}  // namespace

std::vector<SampleRule> update_samples() {
  return {{&micro::kUpdateItem, {{factor::kSpanBytes, 1}}}};
}

std::optional<model::UpdateModel> fit_update(const SampleTable& table, double confidence,
                                             std::vector<std::string>& notes) {
  struct Rows {
    const SampleRow* append = nullptr;
    const SampleRow* merge = nullptr;
    const SampleRow* apply = nullptr;
    const SampleRow* miss = nullptr;
  };
  std::map<uint64_t, Rows> by_span;
  for (const SampleRow& row : table.rows(micro::kUpdateItem)) {
    Rows& rows = by_span[row.number(factor::kSpanBytes)];
    (row.variant == variant::kAppend  ? rows.append
     : row.variant == variant::kMerge ? rows.merge
     : row.variant == variant::kMiss  ? rows.miss
                                      : rows.apply) = &row;
  }
  model::UpdateModel update;
  for (const auto& [span_bytes, rows] : by_span) {
    auto append = over_runs(rows.append, confidence);
    auto merge = over_runs(rows.merge, confidence);
    auto apply = over_runs(rows.apply, confidence);
    if (append && merge && apply) {
      update.items.push_back({span_bytes, *std::move(append), *std::move(merge), *std::move(apply),
                              over_runs(rows.miss, confidence)});
    } else {
      notes.push_back("what updates among " + std::to_string(span_bytes) +
                      " bytes cost is absent: appending, merging and applying were not all "
                      "measured in two runs");
    }
  }
  if (update.items.empty()) return std::nullopt;
  update.provider_s = streamed(table, variant::kProvider, confidence);
  update.message_s = streamed(table, variant::kMessage, confidence);
  return update;
}

}  // namespace stripline::fit
