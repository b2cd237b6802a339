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

// Seconds until all that a block needs has come, from all owners.
double fetch_s(const IndirectRequest& request, const CompiledPath& path, double elements,
               const Ends& ends) {
  const double owners = std::clamp<double>(request.owners, 1, std::max(elements, 1.0));
  const double of_owner = std::max(1.0, elements / owners);
  return detail::list_get_s({of_owner, request.element_bytes, request.span_bytes, owners}, path,
                            request.surroundings, ends);
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

double predict_indirect(const IndirectRequest& request, const CompiledPath& path, uint64_t block,
                        const Ends& ends) noexcept {
  const auto iterations = static_cast<double>(request.iterations);
  const double others = reads_of_others(request);
  const double directions = request.modifies ? 2 : 1;
  if (block == 0) {
    const auto bytes = static_cast<double>(request.element_bytes);
    const double each = get_at(path, request.element_bytes, ends).blocking(bytes);
    return request.compute_s + directions * iterations * others * each;
  }
  const double of_block = static_cast<double>(std::min(block, request.iterations));
  const double blocks = std::max(1.0, iterations / of_block);
  const double elements = of_block * others * request.distinct_percent / kHundred;
  const double fetch = directions * fetch_s(request, path, elements, ends);
  const double compute = request.compute_s / blocks;
  const double own = inspection_s(request, path, of_block, ends) +
                     path.strip.strip_overhead(ends.of(Source::overhead));
  return fetch + (blocks - 1) * std::max(fetch, compute) + compute + blocks * own;
}

IndirectPlan baseline_of_indirect(const IndirectRequest& request,
                                  const CompiledPath* path) noexcept {
  return baseline_of<IndirectMechanism>(request, path);
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
