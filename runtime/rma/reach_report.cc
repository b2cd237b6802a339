#include "runtime/rma/reach_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <stripline/memory_use.h>
#include <stripline/team.h>

#include "runtime/machine/reach_table.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/injection_queue.h"

namespace stripline {

MemoryUse memory_use(Context& context) {
  const detail::ContextState& state = context.state();
  const fabric::Info& info = state.job.fabric().info();
  const uint64_t behind_segment =
      state.job.fabric().segment().size() - state.memory.segment().size();
  // The slots for what this rank sends, half of those there are, are packed into as much private
  // memory at most.
  const uint64_t packing = rma::Memory::bulk_bytes(state.job.ranks()) / 2 +
                           2 * info.max_message_bytes +
                           vis::Transfers::kBoxes * vis::Transfers::kMaxBoxBytes;
  MemoryUse use;
  use.segment_bytes = state.memory.segment().size();
  use.runtime_bytes = behind_segment + packing + info.buffer_bytes +
                      state.operations.combiner().budget_bytes() + rma::GetCombiner::kMostBytes +
                      state.operations.bounces().capacity() +
                      state.operations.slots().capacity() * rma::CompletionSlots::kBytesPerSlot;
  use.per_peer_bytes = info.peer_bytes + state.operations.messages().buffer_bytes_per_peer() +
                       state.mechanisms.transfers().buffer_bytes_per_peer();
  use.loop_bytes = state.job.options().loop_buffer_bytes;
  use.mechanism_bytes = state.mechanisms.buffer_bytes();
  if (info.injector_bytes > 0) {
    use.injection_bytes = info.injector_bytes + rma::InjectionQueue::kCopyBytes;
  }
  use.registered_bytes = state.job.fabric().segment().size() + info.buffer_bytes;
  return use;
}

namespace rma {
namespace {

/// What ranks of different hosts report beside the paths.
struct Facts {
  uint64_t runtime_bytes = 0;
  uint64_t per_peer_bytes = 0;
  uint64_t loop_bytes = 0;
  std::array<char, 64> provider{};
  std::array<char, 192> same_node{};
};

template <size_t N>
void copy_text(const std::string& from, std::array<char, N>& to) {
  std::copy_n(from.begin(), std::min(from.size(), N - 1), to.begin());
}

machine::RankReach reach_of(const Facts& facts, std::vector<uint8_t> paths) {
  return {.paths = std::move(paths),
          .provider = facts.provider.data(),
          .same_node = facts.same_node.data(),
          .runtime_bytes = facts.runtime_bytes,
          .per_peer_bytes = facts.per_peer_bytes,
          .loop_bytes = facts.loop_bytes};
}

}  // namespace

void report_reach(Context& context, bool together) {
  const detail::ContextState& state = context.state();
  const rank_t ranks = state.job.ranks();
  std::vector<uint8_t> paths(ranks);
  for (rank_t peer = 0; peer < ranks; ++peer) {
    paths[peer] = static_cast<uint8_t>(state.job.fabric().path(peer));
  }
  const MemoryUse memory = memory_use(context);
  Facts facts;
  facts.runtime_bytes = memory.runtime_bytes;
  facts.per_peer_bytes = memory.per_peer_bytes;
  facts.loop_bytes = memory.loop_bytes;
  const fabric::Info& info = state.job.fabric().info();
  const auto version = info.attributes.find("libfabric.version");
  std::string provider = info.provider;
  if (version != info.attributes.end()) provider += ", libfabric " + version->second;
  copy_text(provider, facts.provider);
  copy_text(state.job.fabric().info().same_node, facts.same_node);
  if (!together) {
    std::fputs(machine::reach_line(state.job.rank(), reach_of(facts, paths)).c_str(), stderr);
    return;
  }
  const bool shows = state.job.rank() == 0;
  const team all = team::world(context);
  std::vector<uint8_t> all_paths(shows ? size_t{ranks} * ranks : 0);
  std::vector<Facts> all_facts(shows ? ranks : 0);
  all.gather(paths, all_paths, 0);
  all.gather(std::span(&facts, 1), all_facts, 0);
  if (!shows) return;
  std::vector<machine::RankReach> reaches;
  for (rank_t rank = 0; rank < ranks; ++rank) {
    const auto begin = all_paths.begin() + static_cast<std::ptrdiff_t>(size_t{rank} * ranks);
    reaches.push_back(reach_of(all_facts[rank], {begin, begin + ranks}));
  }
  std::fputs(machine::reach_table(reaches).c_str(), stderr);
}

}  // namespace rma
}  // namespace stripline
