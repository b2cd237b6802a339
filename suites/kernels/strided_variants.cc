#include "suites/kernels/strided_variants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "optimizer/plan/vis.h"
#include "runtime/rma/context_state.h"
#include "suites/grids.h"
#include "suites/kernels/plain_copies.h"

namespace stripline::suites {
namespace {

constexpr std::array<std::string_view, 12> kNames = {
    "blocking", "fine",   "hand",  "packed",     "untuned", "tuned",
    "guarded",  "forced", "plain", "plain_hand", "bulk",    "bulk_bursts"};

std::vector<std::string> names_before(StridedVariant end) {
  return {kNames.begin(), kNames.begin() + static_cast<std::ptrdiff_t>(end)};
}

// A bounding box is none of them: it would read ghosts that their owner is fetching at that time.
constexpr std::array<VisMethod, 3> kMethods = {VisMethod::pipelined, VisMethod::native_iov,
                                               VisMethod::packed};

std::string name_of(VisMethod method) { return std::string(to_string(method)); }

}  // namespace

std::vector<std::string> strided_variant_names() { return names_before(StridedVariant::plain); }

std::vector<std::string> plain_variant_names() { return names_before(StridedVariant::bulk_bursts); }

Result<StridedManner> strided_manner(Context& context, const experiment::Point& point) {
  const auto found = std::find(kNames.begin(), kNames.end(), point.variant);
  StridedManner manner;
  manner.variant = static_cast<StridedVariant>(found - kNames.begin());
  const bool guarded = manner.variant == StridedVariant::guarded;
  const bool tuned = guarded || manner.variant == StridedVariant::tuned;
  const bool forced = manner.variant == StridedVariant::forced;

  if (tuned && context.state().job.model() == nullptr) {
    return Error(ErrorCode::failed_precondition,
                 "variant '" + point.variant +
                     "' needs a tuned model; give one with --model FILE "
                     "('stripline model fetch' gets one)");
  }
  manner.transfers.use_model = tuned;
  manner.transfers.self_check = guarded;

  const std::string name = *experiment::text_param(point, kMethodFactor);
  const auto* const method = std::find_if(kMethods.begin(), kMethods.end(),
                                          [&](VisMethod known) { return name_of(known) == name; });
  if (forced) {
    manner.transfers.method = *method;
  } else if (method != kMethods.begin()) {
    return Error(ErrorCode::invalid_argument, "only variant 'forced' takes a method; variant '" +
                                                  point.variant + "' decides for itself");
  }
  if (manner.transfers.method == VisMethod::native_iov &&
      context.state().job.fabric().info().iov_limit < 2) {
    return Error(ErrorCode::invalid_argument,
                 "this network has no operations of several regions; take another method");
  }

  if (experiment::number_param(point, kPiecesFactor)) {
    manner.pieces = size_param(point, kPiecesFactor);
  }
  if (manner.pieces != 1 && !forced && manner.variant != StridedVariant::hand) {
    return Error(ErrorCode::invalid_argument,
                 "only variants 'hand' and 'forced' take pieces; variant '" + point.variant +
                     (tuned ? "' plans them" : "' hands on what a sweep has made of a whole cell"));
  }
  return manner;
}

experiment::Factor strided_method_factor() {
  experiment::Factor method;
  method.name = kMethodFactor;
  method.description =
      "Variant forced: how strided transfers are carried out, with the settings that are used "
      "without a model.";
  for (const VisMethod one : kMethods) method.values.emplace_back(name_of(one));
  return method;
}

experiment::Factor sweep_pieces_factor() {
  return integer_factor(kPiecesFactor, "1",
                        "Variants hand and forced: pieces in which the results of a sweep leave a "
                        "cell, each as soon as it is computed.",
                        {1, 2, 4, 8}, 1, 64);
}

VisCounts::VisCounts(Context& context)
    : context_(&context), before_(context.state().operations.vis().statistics()) {}

std::string VisCounts::text() const {
  const vis::Transfers::Statistics& after = context_->state().operations.vis().statistics();
  std::vector<std::pair<std::string_view, uint64_t>> counts;
  for (size_t i = 0; i < plan::kVisMethods; ++i) {
    const auto method = static_cast<plan::VisMethod>(i);
    const auto& now = after.of(method);
    const auto& then = before_.of(method);
    counts.emplace_back(plan::to_string(method), now.puts + now.gets - then.puts - then.gets);
  }
  counts.emplace_back("contiguous", after.contiguous - before_.contiguous);
  counts.emplace_back("local", after.local - before_.local);
  uint64_t all = 0;
  for (const auto& [what, count] : counts) all += count;
  std::string text;
  for (const auto& [what, count] : counts) {
    if (count == 0) continue;
    const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(all);
    text += (text.empty() ? "" : ", ") + std::string(what) + " " +
            std::to_string(std::lround(percent)) + "%";
  }
  return text.empty() ? "none" : text;
}

std::string strided_note(const StridedManner& manner, const VisCounts& counts) {
  if (manner.variant == StridedVariant::bulk_bursts) {
    return "blocking copies between barriers, in bursts of a bulk region: " + counts.text();
  }
  const std::string_view name = kNames.at(static_cast<size_t>(manner.variant));
  if (const auto plain = plain_copies_of(name)) return plain_note(*plain);
  if (manner.variant == StridedVariant::packed) return "packed by the program";
  if (manner.variant == StridedVariant::fine) return "element by element";
  return "strided transfers: " + counts.text();
}

}  // namespace stripline::suites
