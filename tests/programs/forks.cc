// A rank whose child process does what it should not, or what it may. Rank 0 forks; meanwhile and
// afterwards all ranks communicate. Prints "child: exit CODE", and "still here" when all is right.
//
//   forks exit       the child calls exit(), with a Context that goes then
//   forks return     it returns from main, with all that a program may have made of the Context
//   forks progress   it makes progress; likewise put, get, local, rpc, clock, barrier
//   forks init       it joins the job by itself
//   forks inject     it puts by an injection_context of its parent; inject-return: it returns from
//                    main with one
//   forks system     it is made by system(), and joins the job by itself
//   forks popen      it is made by popen(), and prints what rank 0 reads
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <stripline/bulk.h>
#include <stripline/context.h>
#include <stripline/fine.h>
#include <stripline/future.h>
#include <stripline/gather_plan.h>
#include <stripline/halo.h>
#include <stripline/injection.h>
#include <stripline/lock.h>
#include <stripline/rpc.h>
#include <stripline/shared_array.h>
#include <stripline/team.h>
#include <stripline/update.h>

namespace {

using namespace stripline;

std::unique_ptr<Context> context;  // as in many programs
std::optional<injection_context> injection;

int status_of(int waited) { return WIFEXITED(waited) ? WEXITSTATUS(waited) : -WTERMSIG(waited); }

void as_child(const std::string& what, global_ptr<uint64_t> there) {
  if (what == "exit") std::exit(0);
  if (what == "progress") context->progress();
  if (what == "put") context->rput(uint64_t{9}, there);
  if (what == "get") (void)context->rget(there);
  if (what == "local") (void)context->local(context->on_rank(there, context->rank_me()));
  if (what == "rpc") rpc(*context, there.where(), [] {}).wait();
  if (what == "clock") (void)context->now_s();
  if (what == "barrier") context->barrier();
  if (what == "inject") {
    const uint64_t word = 9;
    injection->rput(&word, there, 1);
  }
  if (what == "init") {
    const auto second = Context::init();
    if (!second.ok()) std::_Exit(report(second.error()));
  }
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "exit";
  const bool injects = what.starts_with("inject");
  auto made = injects ? Context::init(thread_mode::injecting) : Context::init();
  if (!made.ok()) return report(made.error());
  if (what == "join") return 0;  // what system() starts
  context = std::move(*made);
  Context& ctx = *context;
  const rank_t me = ctx.rank_me();
  const rank_t next = (me + 1) % ctx.rank_n();
  const auto words = *ctx.new_symmetric_array<uint64_t>(5);
  const global_ptr<uint64_t> there = ctx.on_rank(words, next);
  auto x = *shared_array<double>::create(ctx, 64);
  for (double& value : x.local_span()) value = 1;
  ctx.barrier();
  {
    // What goes with main, and what is in progress.
    UpdateEpoch<uint64_t, op_add> epoch(ctx);
    auto plan = *GatherPlan<double>::create(x, std::vector<uint64_t>{0, 1, 2, 3});
    auto lock = *global_lock::create(ctx);
    const team half = team::world(ctx).split(me % 2, me);
    std::optional<halo_exchange<double, 1>> halo(*halo_exchange<double, 1>::create(
        ctx, {.interior = {8}, .width = {1}, .grid = {ctx.rank_n()}, .periodic = {true}}));
    const bulk_region region(ctx);
    fine_region fine(ctx);
    const auto pending = rget_async(ctx, there);
    const lazy<uint64_t> fetched = fine.read(there + 2);
    const uint64_t word = me;
    memput(ctx, there + 3, &word, 1);
    if (injects) {
      auto opened = injection_context::open(ctx);
      if (!opened.ok()) return report(opened.error());
      injection.emplace(std::move(*opened));
      injection->rput(&word, there + 4, 1);
    }
    epoch.update(there + 1, 1);
    plan.start(x);
    if (me == 0) {
      std::fflush(nullptr);
      int ended = 0;
      if (what == "system") {
        ended = std::system((std::string(argv[0]) + " join").c_str());
      } else if (what == "popen") {
        FILE* const pipe = ::popen("echo hello", "r");
        char line[64] = {};
        if (pipe == nullptr || std::fgets(line, sizeof line, pipe) == nullptr) return 1;
        ended = ::pclose(pipe);
        std::printf("popen: %s", line);
      } else {
        const pid_t child = ::fork();
        if (child == 0) {
          if (what.ends_with("return")) return 0;
          as_child(what, there);
        }
        ::waitpid(child, &ended, 0);
      }
      std::printf("child: exit %d\n", status_of(ended));
    }
    pending.wait();
    plan.wait();
    epoch.end();
    lock.lock();
    lock.unlock();
    half.barrier();
    if (injects) injection->fence();
  }
  uint64_t value = me + 100;
  ctx.rput(value, there);
  ctx.barrier();
  const rank_t before = (me + ctx.rank_n() - 1) % ctx.rank_n();
  const bool right = ctx.local(words)[0] == before + 100U && ctx.local(words)[1] == 1;
  const uint64_t all = ctx.reduce_all(uint64_t{right ? 1U : 0U}, Context::ReduceOp::sum);
  if (me == 0) std::puts(all == ctx.rank_n() ? "still here" : "WRONG values");
  return right ? 0 : 1;
}
