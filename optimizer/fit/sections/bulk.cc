#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/paired_runs.h"
#include "optimizer/fit/section_fits.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;
namespace variant = experiment::variant;

// More operations in flight must be so much faster to be worth their memory.
constexpr double kAboutAsFast = 1.02;

// Puts, or gets.
std::optional<uint32_t> fewest_in_flight(const SampleTable& table, const char* direction) {
  std::map<uint64_t, double> times;
  double best_s = std::numeric_limits<double>::infinity();
  for (const SampleRow& row : table.rows(micro::kBulkWindow)) {
    if (row.variant != direction) continue;
    const double time_s = across_runs(row.medians);
    times[row.number(factor::kInFlight)] = time_s;
    best_s = std::min(best_s, time_s);
  }
  for (const auto& [in_flight, time_s] : times) {
    if (time_s <= kAboutAsFast * best_s) return static_cast<uint32_t>(in_flight);
  }
  return std::nullopt;
}

struct CopyRows {
  const SampleRow* copied = nullptr;
  const SampleRow* waited = nullptr;
};

// nullopt: of all sizes.
std::optional<uint64_t> largest_worthwhile(const std::map<uint64_t, CopyRows>& by_bytes,
                                           double confidence) {
  uint64_t largest = 0;
  for (const auto& [bytes, rows] : by_bytes) {
    if (rows.copied == nullptr || rows.waited == nullptr) continue;
    const auto ratio = ratio_of(rows.copied->medians, rows.waited->medians, confidence);
    // Where the copy takes no time, as on clocks that computation does not advance, there is none.
    if (ratio && ratio->interval.high >= 1) return largest;
    largest = bytes;
  }
  return std::nullopt;
}

}  // namespace

std::vector<SampleRule> bulk_samples() {
  return {
      {&micro::kBulkWindow, {{factor::kInFlight, 1, model::kMaxBulkInFlight}, {factor::kBytes, 1}}},
      {&micro::kBulkCheck, {{factor::kInFlight, 1}}},
      {&micro::kBulkCopy, {{factor::kBytes, 1}}}};
}

std::optional<model::BulkModel> fit_bulk(const SampleTable& table, double confidence,
                                         std::vector<std::string>& notes) {
  std::map<uint64_t, CopyRows> by_bytes;
  for (const SampleRow& row : table.rows(micro::kBulkCopy)) {
    CopyRows& rows = by_bytes[row.number(factor::kBytes)];
    (row.variant == variant::kCopied ? rows.copied : rows.waited) = &row;
  }
  model::BulkModel bulk;
  for (const auto& [bytes, rows] : by_bytes) {
    auto copy_s = over_runs(rows.copied, confidence);
    if (copy_s) {
      bulk.copies.push_back({bytes, *std::move(copy_s)});
    } else {
      notes.push_back("what copying " + std::to_string(bytes) +
                      " bytes takes that were fetched ahead is absent: it was not measured in two "
                      "runs");
    }
  }
  if (bulk.copies.empty()) return std::nullopt;
  bulk.max_get_bytes = largest_worthwhile(by_bytes, confidence);
  const auto puts = fewest_in_flight(table, variant::kPut);
  const auto gets = fewest_in_flight(table, variant::kGet);
  if (puts && gets) {
    bulk.in_flight = std::max(*puts, *gets);
  } else {
    notes.emplace_back(
        "how many puts and gets a bulk region has in flight is absent: not both were measured");
  }
  const std::vector<SampleRow>& checks = table.rows(micro::kBulkCheck);  // they ascend
  if (!checks.empty()) bulk.check_s = over_runs(&checks.back(), confidence);
  return bulk;
}

}  // namespace stripline::fit
