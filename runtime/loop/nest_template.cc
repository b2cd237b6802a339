
#include <stripline/nest_template.h>

#include "optimizer/access/saturate.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

// Iterations from `lower` on before `upper` is reached.
uint64_t iterations_of(int64_t lower, int64_t upper, int64_t step) {
  if (step > 0 ? lower >= upper : lower <= upper) return 0;
  // As unsigned numbers, distances and the least step are right.
  const auto from = static_cast<uint64_t>(lower);
  const auto to = static_cast<uint64_t>(upper);
  const uint64_t distance = step > 0 ? to - from : from - to;
  const uint64_t each = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  return (distance - 1) / each + 1;
}

}  // namespace

NestTemplate::NestTemplate(NestPlace place, const NestOptions& options)
    : context_(place.context), site_(place.site), options_(options) {}

void NestTemplate::fail(const char* what) const {
  context_.state().fail(
      Error(ErrorCode::invalid_argument, text(rma::Call("NestTemplate", site_)) + ": " + what));
}

void NestTemplate::fail_strip() const {
  fail(tile_ == nullptr
           ? "first(), count(), address() and stride_bytes() are about a strip, and there is none "
             "but after next() has returned true"
           : "first(), count(), address() and stride_bytes() are for loops and references that "
             "were added");
}

void NestTemplate::check_open() const {
  if (run_ || over_) fail("a nest is described before analyze() and next(), not after");
}

size_t NestTemplate::add_loop(int64_t lower, int64_t upper, int64_t step) {
  check_open();
  if (step == 0) fail("a loop needs a step that is not 0");
  const uint64_t count = iterations_of(lower, upper, step);
  if (!nest_.add_loop(count == 0 ? 1 : count)) fail("a nest has at most 6 loops");
  empty_ = empty_ || count == 0;
  const size_t loop = nest_.depth - 1;
  lower_[loop] = lower;
  step_[loop] = step;
  return loop;
}

size_t NestTemplate::add_reference(access::Mode mode, rank_t owner, uint64_t offset,
                                   uint32_t element_bytes) {
  check_open();
  if (mode > access::Mode::update) fail("a reference is of access::Mode read, write or update");
  if (element_bytes == 0) fail("elements have at least one byte");
  // Farther away than any segment reaches, rather than before it.
  const auto base = offset > static_cast<uint64_t>(access::kFarthest)
                        ? access::kFarthest
                        : static_cast<int64_t>(offset);
  if (!nest_.add({.mode = mode, .owner = owner, .element_bytes = element_bytes, .base = base})) {
    fail("a nest has at most 12 references");
  }
  return nest_.references() - 1;
}

void NestTemplate::set_stride(size_t reference, size_t loop, int64_t bytes) {
  check_open();
  if (reference >= nest_.references() || loop >= nest_.depth) {
    fail("set_stride() is for a reference and a loop that were added");
  }
  nest_.reference[reference].stride_bytes[loop] = access::saturating_multiply(bytes, 1);
}

const NestPlan& NestTemplate::analyze() {
  if (nest_.depth == 0 || nest_.references() == 0) fail("a nest has loops and references");
  if (empty_) return nothing_;
  if (!run_) run_.emplace(context_, nest_, options_, site_);
  return run_->plan();
}

bool NestTemplate::next() {
  if (over_) return false;
  analyze();
  tile_ = empty_ ? nullptr : run_->next();
  over_ = tile_ == nullptr;
  return !over_;
}

int64_t NestTemplate::first(size_t loop) const {
  check_strip(0, loop);
  return lower_[loop] + static_cast<int64_t>(tile_->first[loop]) * step_[loop];
}

int64_t NestTemplate::count(size_t loop) const {
  check_strip(0, loop);
  if (loop < tile_->cut_loop) return 1;
  return static_cast<int64_t>(loop == tile_->cut_loop ? tile_->count : nest_.counts[loop]);
}

}  // namespace stripline
