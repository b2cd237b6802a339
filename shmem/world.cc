#include "shmem/world.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>

#include "base/exit_codes.h"
#include "shmem/active_sets.h"
#include "shmem/atomics.h"

// Only their addresses count.
extern "C" {
stripline_shmem_handle stripline_shmem_ctx_default{0};
stripline_shmem_handle stripline_shmem_team_world{0};
stripline_shmem_handle stripline_shmem_team_shared{0};
}

namespace stripline::shmem {

World* the_world = nullptr;

void fail_without_world(const char* call) {
  std::fprintf(stderr,
               "error: %s outside of shmem_init and shmem_finalize; call shmem_init first\n", call);
  std::_Exit(exit_code_for(ErrorCode::invalid_argument));
}

World::World(std::unique_ptr<Context> context, int thread_level)
    : context_(std::move(context)),
      me_(context_->rank_me()),
      pes_(context_->rank_n()),
      thread_level_(thread_level),
      multiple_(thread_level == SHMEM_THREAD_MULTIPLE),
      observed_(state().memory.checked_bytes() == 0),
      needs_progress_(!state().memory.all_shared()),
      none_(observed_ ? pes_ : 0, nullptr),
      reach_(observed_ ? none_.data() : state().memory.reachable()),
      active_sets_(std::make_unique<ActiveSets>(*this)),
      atomics_(std::make_unique<Atomics>(*this)) {
  default_context_.team = &world_team_;
}

World::~World() = default;

void World::set_heap(std::byte* begin, size_t bytes, size_t alignment) {
  heap_begin_ = begin;
  heap_alignment_ = alignment;
  heap_ = std::make_unique<Heap>(bytes);
}

void World::make_predefined_teams() {
  const auto describe = [](Team& team, bool world) {
    team.me = static_cast<int>(team.group.rank_me());
    team.pes = static_cast<int>(team.group.rank_n());
    team.world = world;
  };
  world_team_.group = team::world(*context_);
  describe(world_team_, true);
  // The PEs that reach each other: named by the first of them, unless that differs among them.
  rank_t first = me_;
  for (rank_t pe = 0; pe < me_ && first == me_; ++pe) {
    if (segment_of(pe) != nullptr) first = pe;
  }
  team shared = world_team_.group.split(first, me_);
  bool all_reached = true;
  for (rank_t pe = 0; pe < shared.rank_n(); ++pe) {
    all_reached = all_reached && segment_of(shared.world_rank(pe)) != nullptr;
  }
  const int missing = shared.allreduce(all_reached ? 0 : 1, op_max{});
  const uint32_t any_missing = world_team_.group.allreduce(missing, op_max{});
  if (any_missing != 0) {
    shared = world_team_.group.split(missing == 0 ? first : pes_ + me_, me_);
  }
  shared_team_.group = std::move(shared);
  describe(shared_team_, false);
}

// --- handles -------------------------------------------------------------------------------------

rank_t World::job_rank_of_team(const char* call, const Team& team, int pe) const {
  if (pe < 0 || pe >= team.pes) {
    fail(std::string(call) + " names PE " + std::to_string(pe) + ", but " +
         (team.world ? "the program" : "the team of its context") + " has PEs 0 to " +
         std::to_string(team.pes - 1));
  }
  return team.group.world_rank(static_cast<rank_t>(pe));
}

CommContext& World::other_context(const char* call, shmem_ctx_t handle) const {
  if (handle == SHMEM_CTX_INVALID) {
    fail(std::string(call) + " with SHMEM_CTX_INVALID, which is not a context");
  }
  return *reinterpret_cast<CommContext*>(handle);
}

Team* World::team_or_null(shmem_team_t handle) {
  if (handle == SHMEM_TEAM_WORLD) return &world_team_;
  if (handle == SHMEM_TEAM_SHARED) return &shared_team_;
  return reinterpret_cast<Team*>(handle);
}

Team& World::team_of(const char* call, shmem_team_t handle) {
  Team* const team = team_or_null(handle);
  if (team == nullptr) fail(std::string(call) + " with SHMEM_TEAM_INVALID, which is not a team");
  return *team;
}

shmem_team_t World::handle_of(Team* team) {
  if (team == &world_team_) return SHMEM_TEAM_WORLD;
  if (team == &shared_team_) return SHMEM_TEAM_SHARED;
  return reinterpret_cast<shmem_team_t>(team);
}

// --- threads, waiting ----------------------------------------------------------------------------

void World::send_held() {
  const auto inside = state().exclusive();
  state().operations.combiner().flush();
}

void World::wait(const char* call, const std::function<bool()>& condition) {
  if (!multiple_) {
    send_held();
    context_->wait_until(condition, std::numeric_limits<double>::infinity(), site_of(call));
    return;
  }
  {
    const Turn turn(*this);
    send_held();
  }
  while (!condition()) {
    progress();
    std::this_thread::yield();
  }
}

void World::progress() {
  const Turn turn(*this);
  context_->progress();
}

void World::await(const future& operation) {
  {
    const Turn turn(*this);
    send_held();
  }
  while (true) {
    {
      const Turn turn(*this);
      if (operation.is_ready()) return;
    }
    std::this_thread::yield();
  }
}

bool World::take_for_thread(const long* lock) {
  const Turn turn(*this);
  return locks_of_threads_.insert(lock).second;
}

void World::give_back_of_thread(const long* lock) {
  if (!multiple_) return;
  const Turn turn(*this);
  locks_of_threads_.erase(lock);
}

void World::complete(CommContext& context) {
  if (context.pending.load(std::memory_order_acquire)) {
    const Turn turn(*this);
    // Another thread's call may have completed this thread's operations, too. It says so when it
    // has, and not before: this one would return too early.
    if (context.pending.load(std::memory_order_relaxed)) {
      const auto inside = state().exclusive();
      state().operations.begin("shmem_quiet");
      state().operations.complete_puts();
      context.pending.store(false, std::memory_order_release);
    }
  }
  // What was stored by this PE itself is visible to others before what it does next.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// --- mistakes ------------------------------------------------------------------------------------

void World::fail(const std::string& message) const {
  context_->state().fail(Error(ErrorCode::invalid_argument, message));
}

void World::fail_address(const char* call, const void* address, size_t bytes) const {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(address));
  fail(std::string(call) + " of " + std::to_string(bytes) + " bytes at " + text.data() +
       ", which are not symmetric: neither within memory of shmem_malloc nor within static data of "
       "the program");
}

}  // namespace stripline::shmem
