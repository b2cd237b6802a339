// Rank 0 waits for rank 1, which never answers. For tests of what becomes of such a job.
//
//   waits KIND [HOW]
//
// KIND is what rank 0 waits in: barrier, team_barrier, allreduce, all_to_all, split, signal,
// message, lock, get, put, flood (of messages), atomic, updates, single_updates,
// locked_updates, flush (of updates), gather_plan, gather. HOW is what rank 1 does instead of
// answering: stop (itself, the default), pause (in the kernel, for ever), compute SECONDS (and then
// answer).

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/gather_plan.h>
#include <stripline/lock.h>
#include <stripline/team.h>
#include <stripline/update.h>

namespace {

using stripline::Context;
using stripline::rank_t;

stripline::UpdateMethod method_of(std::string_view kind) {
  if (kind == "single_updates") return stripline::UpdateMethod::messages;
  if (kind == "locked_updates") return stripline::UpdateMethod::cell_locks;
  return stripline::UpdateMethod::automatic;
}

void stay_away(std::string_view how, double seconds) {
  if (how == "pause") {
    while (true) ::pause();
  }
  if (how == "compute") {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
    }
    return;
  }
  ::raise(SIGSTOP);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "barrier";
  const std::string_view how = argc > 2 ? argv[2] : "stop";
  const double seconds = argc > 3 ? std::atof(argv[3]) : 0;

  auto joined = Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  Context& context = **joined;
  const bool waits = context.rank_me() == 0;
  constexpr size_t kWords = 1 << 10;
  const auto words = context.new_symmetric_array<uint64_t>(kWords);
  if (!words.ok()) return stripline::report(words.error());
  stripline::team all = stripline::team::world(context);
  stripline::team everybody = all.split(0, 0);
  stripline::atomic_domain<uint64_t> counters(context);
  auto lock = stripline::global_lock::create(context, 0);
  if (!lock.ok()) return stripline::report(lock.error());
  constexpr size_t kBudgetBytes = 1 << 20;
  stripline::UpdateEpoch<uint64_t, stripline::op_add> epoch(
      context, {.mode = stripline::UpdateMode::log,
                .budget_bytes = kBudgetBytes,
                .settings = {.method = method_of(kind)}});
  bool heard = false;
  const uint32_t message =
      context.register_am([&](rank_t, std::span<const std::byte>) { heard = true; });
  std::vector<uint64_t> block(kWords);
  const auto array = stripline::shared_array<uint64_t>::create(context, kWords);
  if (!array.ok()) return stripline::report(array.error());
  // The elements of all ranks.
  std::vector<uint64_t> index(kWords);
  std::iota(index.begin(), index.end(), uint64_t{0});
  const auto plan = [&] { return stripline::GatherPlan<uint64_t>::create(*array, index); };
  auto made = plan();
  if (!made.ok()) return stripline::report(made.error());
  const auto theirs = context.on_rank(*words, 1);

  if (kind == "lock" && !waits) lock->lock();
  context.barrier();
  if (!waits) stay_away(how, seconds);
  // Until then rank 1 may still serve others in the barrier.
  if (waits) std::this_thread::sleep_for(std::chrono::milliseconds(100));

  if (kind == "barrier") context.barrier();
  if (kind == "team_barrier") everybody.barrier();
  if (kind == "allreduce") (void)all.allreduce(uint64_t{1}, stripline::op_add{});
  if (kind == "all_to_all") {
    std::vector<uint64_t> received(kWords);
    all.all_to_all(std::span<const uint64_t>(block), std::span(received));
  }
  if (kind == "split") (void)all.split(0, 0);
  if (kind == "gather_plan") (void)plan();
  if (kind == "gather") made->start(*array);
  if (kind == "gather") made->wait();
  if (kind == "signal") {
    if (waits) context.wait_signal(*words, 1);
    if (!waits)
      context.rput_signal<uint64_t>(nullptr, context.on_rank(*words, 0), 0,
                                    context.on_rank(*words, 0), 1);
  }
  if (kind == "message") {
    if (waits) context.wait_until([&] { return heard; });
    if (!waits) context.am_send(0, message, {});
  }
  if (kind == "lock") {
    if (waits) lock->lock();
    lock->unlock();
  }
  if (waits && kind == "get") context.rget(theirs, block.data(), kWords).wait();
  if (waits && kind == "put") {
    for (int i = 0; i < 1000; ++i) context.rput(block.data(), theirs, kWords).wait();
  }
  if (waits && kind == "flood") {
    for (int i = 0; i < 10000; ++i)
      context.am_send(1, message, std::as_bytes(std::span(block)).first(512));
  }
  if (waits && kind == "atomic") counters.fetch_add(theirs, 1);
  if (waits && kind == "updates") {
    // More than the budget keeps while rank 1 has as many parcels as it may have.
    constexpr int kUpdates = 4 * kBudgetBytes / sizeof(uint64_t);
    for (int i = 0; i < kUpdates; ++i) epoch.update(theirs + i % static_cast<int>(kWords), i);
  }
  if (waits && (kind == "flush" || kind == "single_updates" || kind == "locked_updates")) {
    epoch.update(theirs, 1);
    epoch.flush();
  }
  epoch.end();
  context.barrier();
  if (waits) std::printf("rank 1 has answered\n");
  return 0;
}
