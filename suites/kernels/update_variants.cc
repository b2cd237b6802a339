#include "suites/kernels/update_variants.h"

#include <utility>

#include "base/quantity.h"
#include "optimizer/plan/score_map.h"
#include "suites/grids.h"
#include "suites/registry.h"

namespace stripline::suites {
namespace {

constexpr const char* kModeFactor = "mode";
constexpr const char* kUpdateMethod = "method";

}  // namespace

UpdateVariant update_variant_of(const experiment::Point& point) {
  const auto names = kernels::kHistogram.variants();
  const auto found = std::ranges::find(names, point.variant);
  return static_cast<UpdateVariant>(found == names.end() ? 0 : found - names.begin());
}

std::vector<experiment::Factor> buffer_factors() {
  return {integer_factor(factor::kBufferBytes, "B",
                         "Of a buffer of UpdateEpoch; 0: as the runtime chooses; for tuned.", {0},
                         0, 1 << 20),
          name_factor(kModeFactor,
                      "Whether updates of one cell may be merged before they are sent; for tuned.",
                      {"accumulate", "log"})};
}

std::vector<experiment::Factor> update_factors() {
  std::vector<experiment::Factor> factors = buffer_factors();
  std::vector<experiment::ParamValue> methods;
  const auto& names = plan::kUpdateMethodNames;  // the last one is what is usual
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    methods.emplace_back(std::string(*name));
  }
  factors.push_back(
      name_factor(kUpdateMethod,
                  "By which method updates reach other ranks (UpdateMethod): automatic chooses "
                  "with a model, and takes buffers without one; for tuned.",
                  std::move(methods)));
  return factors;
}

std::string note_of_updates(const UpdateSettings& used, const UpdateStatistics& sent,
                            uint64_t epochs) {
  if (epochs == 0) return {};
  std::string text(to_string(used.method));
  if (used.method == UpdateMethod::buffers) {
    text += " of " + exact_bytes_text(used.buffer_bytes) + ", " + std::to_string(used.hops) +
            (used.hops == 1 ? " hop" : " hops");
  }
  return text + ", " + std::to_string(sent.parcels / epochs) + " parcels an epoch";
}

Result<UpdateOptions> update_options_of(Context& context, const experiment::Point& point) {
  UpdateOptions options;
  options.fills_gaps = true;  // no rank stores into the array meanwhile
  if (experiment::text_param(point, kModeFactor) == "log") options.mode = UpdateMode::log;
  const std::string method = experiment::text_param(point, kUpdateMethod)
                                 .value_or(std::string(to_string(UpdateMethod::automatic)));
  options.settings.method = plan::method_named<UpdateMethod>(method, plan::kUpdateMethodNames)
                                .value_or(options.settings.method);
  if (options.mode == UpdateMode::log && (options.settings.method == UpdateMethod::messages ||
                                          options.settings.method == UpdateMethod::provider)) {
    return Error(ErrorCode::invalid_argument,
                 "method=" + method +
                     " does not keep the order of a rank's updates, as mode=log asks for; measure "
                     "it with mode=accumulate");
  }
  if (options.settings.method == UpdateMethod::provider &&
      !atomic_domain<uint64_t>::provider_has_all(context)) {
    return Error(ErrorCode::failed_precondition,
                 "method=provider needs atomic operations of the network, which this one does not "
                 "have; method=messages sends as many messages");
  }
  options.settings.buffer_bytes = size_param(point, factor::kBufferBytes);
  return options;
}

}  // namespace stripline::suites
