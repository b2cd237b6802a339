#include "optimizer/plan/indirect.h"

#include <algorithm>

#include "optimizer/plan/indirect_mechanism.h"
#include "optimizer/plan/list_time.h"
#include "optimizer/plan/perturbed.h"

namespace stripline::plan {
namespace {

constexpr double kHundred = 100;

// What the inspector does with each read: it writes down where the element is, counts it by owner,
// numbers it among the different ones, and sets the pointer that the body reads it by. A place and
// a pointer are of 8 bytes.
constexpr double kPasses = 4;
constexpr double kPassBytes = 8;

cost::MessageCosts get_at(const CompiledPath& path, uint64_t bytes, const Ends& ends) {
  const cost::LinkCosts& get = path.vis.link(Direction::get);
  return detail::at_ends(get.at(bytes), get.at(bytes, ends.corner), ends);
}

double reads_of_others(const IndirectRequest& request) {
  return request.reads * static_cast<double>(request.remote_percent) / kHundred;
}

double iterations_of(const IndirectRequest& request, const IndirectCandidate& candidate) {
  return static_cast<double>(std::min(candidate.block, request.iterations));
}

// All that a block needs, of all owners.
detail::ListGet list_of(const IndirectRequest& request, const IndirectCandidate& candidate) {
  const double elements = iterations_of(request, candidate) * reads_of_others(request) *
                          request.distinct_percent / kHundred;
  const double owners = std::clamp<double>(request.owners, 1, std::max(elements, 1.0));
  return {std::max(1.0, elements / owners), request.element_bytes, request.span_bytes, owners,
          candidate.tunes_lists};
}

double inspection_s(const IndirectRequest& request, const CompiledPath& path, double iterations,
                    const Ends& ends) {
  const double reads = kPasses * iterations * request.reads;
  return path.vis.pack().pack(reads, reads * kPassBytes, static_cast<uint64_t>(reads * kPassBytes),
                              ends.of(Source::regions));
}

}  // namespace

uint64_t most_indirect_block(const IndirectRequest& request) noexcept {
  return std::max<uint64_t>(
      1, std::min(request.iterations, kMostIndirectReads / std::max(request.reads, 1U)));
}

uint64_t usual_indirect_block(const IndirectRequest& request) noexcept {
  return std::min(most_indirect_block(request),
                  std::max<uint64_t>(1, kUsualIndirectReads / std::max(request.reads, 1U)));
}

double predict_indirect(const IndirectRequest& request, const CompiledPath& path,
                        const IndirectCandidate& candidate, const Ends& ends) noexcept {
  const auto iterations = static_cast<double>(request.iterations);
  const double others = reads_of_others(request);
  const double directions = request.modifies ? 2 : 1;
  if (candidate.block == 0) {
    const auto bytes = static_cast<double>(request.element_bytes);
    const double each = get_at(path, request.element_bytes, ends).blocking(bytes);
    return request.compute_s + directions * iterations * others * each;
  }
  const double of_block = iterations_of(request, candidate);
  const double blocks = std::max(1.0, iterations / of_block);
  const double fetch = directions * detail::list_get_s(list_of(request, candidate), path,
                                                       request.surroundings, ends);
  const double compute = request.compute_s / blocks;
  const double own = inspection_s(request, path, of_block, ends) +
                     path.strip.strip_overhead(ends.of(Source::overhead));
  return fetch + (blocks - 1) * std::max(fetch, compute) + compute + blocks * own;
}

bool fetch_differently(const IndirectRequest& request, const CompiledPath& path,
                       const IndirectCandidate& a, const IndirectCandidate& b) noexcept {
  if (a.block == 0 || b.block == 0) return false;
  const auto method_of = [&](const IndirectCandidate& candidate) {
    return detail::list_plan(list_of(request, candidate), path, request.surroundings).method;
  };
  return method_of(a) != method_of(b);
}

IndirectPlan baseline_of_indirect(const IndirectRequest& request,
                                  const CompiledPath* path) noexcept {
  return baseline_of<IndirectMechanism>(request, path);
}

IndirectPlan force_indirect(const IndirectRequest& request, const CompiledPath* path,
                            const IndirectCandidate& candidate, Reason reason) noexcept {
  return plan_of<IndirectMechanism>(request, path, candidate, reason);
}

IndirectPlan plan_indirect(const IndirectRequest& request, const CompiledPath* path) noexcept {
  NoRecord record;
  return choose<IndirectMechanism>(request, path, record);
}

IndirectPlan plan_indirect(const IndirectRequest& request, const CompiledPath* path,
                           IndirectRecord& record) {
  return choose<IndirectMechanism>(request, path, record);
}

}  // namespace stripline::plan
