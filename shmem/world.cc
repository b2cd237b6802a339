#include "shmem/world.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include <stripline/future.h>

#include "base/exit_codes.h"
#include "runtime/rma/team_access.h"
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
      bulk_(state().job.options().bulk),
      coalesces_(state().job.options().coalesce),
      none_(observed_ ? pes_ : 0, nullptr),
      reach_(observed_ ? none_.data() : state().memory.reachable()),
      default_context_(world_team_, needs_progress_ ? pes_ : 0),
      written_(pes_),
      active_sets_(std::make_unique<ActiveSets>(*this)),
      atomics_(std::make_unique<Atomics>(*this)) {
  if (observed_) watch_calls();
  if (bulk_) note_callers();
}

World::~World() = default;

void World::coalesce(CommContext& context) {
  // Debug mode checks the program as it is written.
  if (!needs_progress_ || state().job.observers().debug() != nullptr) return;
  context.coalesces = true;
  context.combines = atomics_->may_travel_together() && state().operations.combines_atomics();
  if (multiple_) return;
  orders_own_ = true;
  if (reads_) return;
  constexpr size_t kReadAheadBytes = size_t{8} << 20;
  note_callers();
  reads_.emplace(*context_, FineOptions{.buffer_bytes = kReadAheadBytes, .across_barriers = true},
                 CallSite{"shmem_init", 0});
}

void World::learn_of_change(const Place& place, const void* found, size_t bytes) {
  uint64_t word = 0;
  // Where gets of single values are not read ahead, there is little to give up.
  const bool compared = reads_ && found != nullptr && bytes <= sizeof word;
  if (compared) std::memcpy(&word, found, bytes);
  const global_ptr<std::byte> read = place.global();
  const bool again = std::exchange(last_read_, read) == read;
  const uint64_t before = std::exchange(last_found_, word);
  if (again && (!compared || before != word)) learn();
}

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

CommContext& World::other_context(const char* call, shmem_ctx_t handle) {
  if (handle == SHMEM_CTX_INVALID) {
    fail(std::string(call) + " with SHMEM_CTX_INVALID, which is not a context");
  }
  auto* const context = reinterpret_cast<CommContext*>(handle);
  if (observed_) {
    const Turn turn(*this);
    if (std::none_of(contexts_.begin(), contexts_.end(),
                     [context](const auto& one) { return one.get() == context; })) {
      fail(std::string(call) + " with a context that has been destroyed, or was never created");
    }
  }
  return *context;
}

CommContext& World::add_context(Team& team, bool one_at_a_time) {
  const Turn turn(*this);
  // Where loads and stores reach all PEs, it has nothing to count.
  CommContext& context = *contexts_.emplace_back(
      std::make_unique<CommContext>(team, needs_progress_ ? pes_ : rank_t{0}));
  if (one_at_a_time && multiple_ && needs_progress_ && !observed_) context.queue = open_queue();
  return context;
}

// With a Turn. Null: the network has none, or no more of them.
std::unique_ptr<rma::InjectionQueue> World::open_queue() {
  const auto inside = state().exclusive();
  auto opened = rma::InjectionQueue::open(state().job, [this] {
    if (!mutex_.try_lock()) return;  // who has it makes progress
    context_->progress();
    mutex_.unlock();
  });
  if (opened.ok()) return std::move(*opened);
  const Error& error = opened.error();
  if (error.code() != ErrorCode::unimplemented && !std::exchange(said_shared_, true)) {
    std::fprintf(stderr, "warning: rank %u: private contexts share one queue: %s\n", me_,
                 error.message().c_str());
  }
  return nullptr;
}

std::vector<CommContext*> World::contexts_of(const Team& team) {
  const Turn turn(*this);
  std::vector<CommContext*> found;
  for (const auto& one : contexts_) {
    if (one->team == &team) found.push_back(one.get());
  }
  return found;
}

void World::remove_context(CommContext& context) {
  complete(context);
  const Turn turn(*this);
  std::erase_if(contexts_, [&context](const auto& one) { return one.get() == &context; });
}

// --- teams ---------------------------------------------------------------------------------------

uint32_t World::new_team_id(const char* call) {
  const uint32_t room = (kFirstActiveSetId - kFirstTeamId) / pes_;
  const Turn turn(*this);
  const auto inside = state().exclusive();
  for (uint32_t tried = 0; tried < room; ++tried) {
    const uint32_t id = kFirstTeamId + team_ids_++ % room * pes_ + me_;
    if (state().mechanisms.groups().find(id) == nullptr) return id;
  }
  fail(std::string(call) + " of a team whose first PE begins " + std::to_string(room) +
       " teams already, and no more are possible in a program of " + std::to_string(pes_) +
       " PEs; destroy those that are not used any more");
}

Team& World::add_team(uint32_t id, rank_t me, std::vector<rank_t> members) {
  // Its first PE has left an earlier team of this number; another thread of this one may be about
  // to.
  while (multiple_ &&
         undisturbed([&] { return state().mechanisms.groups().find(id) != nullptr; })) {
    progress();
    std::this_thread::yield();
  }
  const Turn turn(*this);
  const auto inside = state().exclusive();
  Team& team = *teams_.emplace_back(std::make_unique<Team>());
  team.me = static_cast<int>(me);
  team.pes = static_cast<int>(members.size());
  team.group = detail::TeamAccess::of(*context_,
                                      state().mechanisms.groups().add(id, me, std::move(members)));
  return team;
}

void World::remove_team(Team& team) {
  const Turn turn(*this);
  const auto inside = state().exclusive();
  state().mechanisms.groups().remove(team.group.id());
  std::erase_if(teams_, [&team](const auto& one) { return one.get() == &team; });
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

void World::serve() {
  const Turn turn(*this);
  const auto inside = state().exclusive();
  state().operations.make_progress();
}

void World::await(const char* call, const future& operation) {
  if (operation.ticket().context == nullptr) return;
  {
    const Turn turn(*this);
    send_held();
  }
  if (!multiple_) return operation.wait(site_of(call));
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

void World::keep(CommContext& context, rank_t pe, const future& operation) {
  // The public calls of an observed job are completed together.
  if (observed_ || operation.ticket().context == nullptr) return;
  if (context.started.size() >= context.most_started) {
    std::erase_if(context.started, [](const CommContext::Started& one) {
      return detail::FutureState::settled(one.operation);
    });
    context.most_started = std::max(context.most_started, 2 * context.started.size());
  }
  context.started.push_back({pe, operation});
}

void World::complete(CommContext& context) {
  if (context.queue != nullptr) context.queue->complete();
  if (context.pending.load(std::memory_order_acquire)) {
    // Other threads go on between looks. They may start more by this context all the time: in the
    // end they have to wait.
    constexpr int kLooks = 1000;
    for (int looks = 0; multiple_ && !observed_ && looks < kLooks; ++looks) {
      if (try_complete(context)) break;
      std::this_thread::yield();
    }
    const Turn turn(*this);
    // Another thread's call may have completed this thread's operations, too. It says so when it
    // has, and not before: this one would return too early.
    if (context.pending.load(std::memory_order_relaxed)) {
      const auto inside = state().exclusive();
      rma::Operations& operations = state().operations;
      operations.begin("shmem_quiet");
      operations.before_message();
      if (observed_) operations.complete_puts();
      operations.fence(context.implicit);
      operations.messages().ask();
      for (const auto& one : context.started) one.operation.wait(site_of("shmem_quiet"));
      context.started.clear();
      context.pending.store(false, std::memory_order_release);
    }
  }
  if (orders_own_ && contexts_.empty()) written_.clear();
  // What was stored by this PE itself is visible to others before what it does next; and what it
  // reads next is not older.
  learn();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Makes progress once if something is in flight.
bool World::try_complete(CommContext& context) {
  const Turn turn(*this);
  if (!context.pending.load(std::memory_order_relaxed)) return true;
  const auto inside = state().exclusive();
  rma::Operations& operations = state().operations;
  operations.begin("shmem_quiet");
  operations.messages().ask();
  const bool fenced = operations.try_fence(context.implicit);
  auto& started = context.started;
  while (!started.empty() && detail::FutureState::settled(started.back().operation)) {
    started.pop_back();
  }
  if (fenced && started.empty()) {
    context.pending.store(false, std::memory_order_release);
    return true;
  }
  operations.messages().progress();
  return false;
}

// Completes what all contexts have started to one PE, in a program of which one thread calls. It
// synchronises no other PE: what was read ahead stays, except where this PE has written.
void World::complete_written_to(rank_t pe) {
  if (observed_) return complete_all();
  const auto complete_of = [this, pe](CommContext& context) {
    if (!context.pending.load(std::memory_order_relaxed)) return;
    const auto inside = state().exclusive();
    rma::Operations& operations = state().operations;
    operations.begin("shmem_quiet");
    if (bulk_) operations.before_message();  // puts that regions hold back
    operations.fence(context.implicit, pe);
    operations.messages().ask();
    std::erase_if(context.started, [pe](const CommContext::Started& one) {
      if (one.pe != pe) return false;
      one.operation.wait(site_of("shmem_quiet"));
      return true;
    });
  };
  complete_of(default_context_);
  for (const auto& context : contexts_) complete_of(*context);
  written_.clear(pe);
}

void World::complete_all() {
  complete(default_context_);
  for (const auto& context : contexts_) complete(*context);
  written_.clear();
}

// --- mistakes ------------------------------------------------------------------------------------

namespace {

std::string transfer_text(const char* call, const void* address, size_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(address));
  return std::string(call) + " of " + std::to_string(bytes) + " bytes at " + text.data();
}

}  // namespace

void World::fail(const std::string& message) const {
  context_->state().fail(Error(ErrorCode::invalid_argument, caller_text() + message));
}

void World::check_block(const char* call, const void* address, size_t bytes) {
  if (state().job.observers().debug() == nullptr || bytes == 0) return;
  const auto offset = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address) -
                                            reinterpret_cast<uintptr_t>(heap_begin_));
  const Turn turn(*this);
  if (offset >= heap_->bytes() || heap_->holds(offset, bytes)) return;
  fail(transfer_text(call, address, bytes) +
       ", which are not within one block of shmem_malloc: it has been freed, or is smaller");
}

void World::fail_address(const char* call, const void* address, size_t bytes) const {
  fail(transfer_text(call, address, bytes) +
       ", which are not symmetric: neither within memory of shmem_malloc nor within static data of "
       "the program");
}

}  // namespace stripline::shmem
