// The variants of a kernel that the loop engine runs: untuned, tuned and forced.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <stripline/context.h>
#include <stripline/loop.h>

#include "base/result.h"
#include "optimizer/plan/strip.h"
#include "suites/kernels/decomposition.h"

namespace stripline::suites {

/// A kernel's loop as the engine is told of it.
struct EngineLoop {
  LoopOptions options;
  size_t element_bytes = 0;
  Transfer transfer;
  LoopPlan plan;  ///< of the latest execution
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
  loop.plan = strip_for_blocks(context, blocks, loop.options, std::forward<Own>(own_work),
                               std::forward<Body>(body));
}

/// The note of a kernel's series: its plan on the first line; for tuned, why it was chosen on the
/// following ones. `run_elements` of `elements` were fetched by variant fine.
std::string kernel_note(Context& context, Variant variant, const EngineLoop& loop,
                        size_t run_elements, size_t elements);

/// The note of a kernel whose result was wrong.
inline constexpr const char* kWrongResult = "verification failed: the result is wrong";

}  // namespace stripline::suites
