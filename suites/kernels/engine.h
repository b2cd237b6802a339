// Running a kernel in any of its variants: the baselines of strategies.h, or the loop engine
// (untuned, tuned and forced).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <stripline/context.h>
#include <stripline/loop.h>
#include <stripline/nest.h>

#include "base/result.h"
#include "optimizer/plan/strip.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/strategies.h"

namespace stripline::suites {

/// A kernel's loop as the engine sees it.
struct EngineLoop {
  LoopOptions options;
  size_t element_bytes = 0;
  Transfer transfer;
  std::optional<const LoopPlan> plan;  ///< of the latest execution
};

/// Describes the loop for the variant of `point`; for the other variants the result is not used.
/// `options` says what the kernel computes. Errors: invalid_argument for a decomposition that the
/// point may not have; failed_precondition for tuned when no model is loaded.
Result<EngineLoop> make_engine_loop(Context& context, const experiment::Point& point,
                                    const LoopOptions& options, size_t element_bytes);

/// Runs the loop once.
template <typename T, typename Own, typename Body>
void run_engine(Context& context, EngineLoop& loop, std::span<const LoopBlock<const T>> blocks,
                Own&& own_work, Body&& body) {
  loop.plan.emplace(strip_for_blocks(context, blocks, loop.options, std::forward<Own>(own_work),
                                     std::forward<Body>(body)));
}

/// What the variants work with, allocated before anything is timed.
template <typename T>
struct VariantBuffers {
  T* data = nullptr;            ///< room for all blocks
  std::span<future> in_flight;  ///< room for blocks x kHandParts
  size_t fine = 0;              ///< how many elements variant fine fetches
};

/// Runs the kernel once as `variant` says. `own_work` is what a rank computes on data of its own;
/// variant fine leaves it out when it fetches a part of the elements only, because its time is
/// scaled then.
template <typename T, typename Own, typename Body>
void run_variant(Context& context, Variant variant, EngineLoop& loop,
                 std::span<const LoopBlock<const T>> blocks, const VariantBuffers<T>& buffers,
                 Own&& own_work, Body&& body) {
  switch (variant) {
    case Variant::fine: {
      size_t elements = 0;
      for (const LoopBlock<const T>& block : blocks) elements += block.count;
      if (buffers.fine == elements) own_work();
      return run_fine(context, blocks, buffers.fine, body);
    }
    case Variant::blocking:
      own_work();
      return run_blocking(context, blocks, buffers.data, body);
    case Variant::hand:
      return run_nonblocking(context, blocks, 1, buffers.data, buffers.in_flight, own_work, body);
    case Variant::hand4:
      return run_nonblocking(context, blocks, kHandParts, buffers.data, buffers.in_flight, own_work,
                             body);
    case Variant::untuned:
    case Variant::tuned:
    case Variant::guarded:
    case Variant::forced:
      return run_engine(context, loop, blocks, own_work, body);
  }
}

/// The note of a kernel's series: its plan on the first line; for tuned, why it was chosen on the
/// following ones. `run_elements` of `elements` were fetched by variant fine.
std::string kernel_note(Context& context, Variant variant, const EngineLoop& loop,
                        size_t run_elements, size_t elements);

/// A nest's plan on one line: "B, 16 x 4 KiB, 2 ahead".
std::string plan_text(const NestPlan& plan);

/// What a plan claims that is taken because it surely gains.
struct Claim {
  double gain = 0;  ///< By how much of the baseline's time at least, a share,
  double of_s = 0;  ///< which is predicted to be this. A kernel's own time holds more.
};

/// The second line of a tuned kernel's note: what its plan claims. Empty for any other reason.
std::string claim_text(plan::Reason reason, const Claim& claim);
/// What such a line, with which `explanation` begins, claims. Nothing if it does not.
std::optional<Claim> claim_of(std::string_view explanation);

/// Errors: failed_precondition for tuned and guarded when no model is loaded.
Status check_model(Context& context, Variant variant);

/// The note of a kernel whose result was wrong.
inline constexpr const char* kWrongResult = "verification failed: the result is wrong";

}  // namespace stripline::suites
