// The smallest program of the runtime: every rank greets its neighbour through shared memory,
// checks what it got, and the ranks agree on the total. Tests of the launcher also make it
// misbehave:
//
//   hello                   greet
//   hello --kill RANK       greet; then this rank kills itself with SIGKILL, the others wait for it
//   hello --kill-first RANK  this rank kills itself once it has joined, the others greet
//   hello --exit RANK CODE  greet; then this rank exits with the code in mid-job
//   hello --return CODE     greet; every rank leaves the job and returns the code
//   hello --sleep-before-join RANK   this rank never joins
//   hello --wait            greet; then wait for ever, in the runtime
//   hello --barrier         greet; then a barrier
//   hello --stale           greet; then every rank reads its neighbour's memory after it was freed

#include <cstdio>
#include <cstdlib>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <stripline/context.h>

namespace {

using stripline::Context;
using stripline::rank_t;

/// Returns whether every greeting was right.
bool greet(Context& context) {
  const rank_t me = context.rank_me();
  const auto mine = context.new_symmetric_array<rank_t>(1);
  if (!mine.ok()) {
    stripline::report(mine.error());
    return false;
  }
  const rank_t next = (me + 1) % context.rank_n();
  context.rput(me, context.on_rank(*mine, next));
  context.barrier();
  const rank_t greeted_by = *context.local(*mine);
  const rank_t expected = (me + context.rank_n() - 1) % context.rank_n();
  const uint64_t right =
      context.reduce_all(uint64_t{greeted_by == expected ? 1U : 0U}, Context::ReduceOp::sum);
  std::printf("hello from rank %u of %u, greeted by %u%s\n", me, context.rank_n(), greeted_by,
              me != next && context.is_local(next) ? ", next to me" : "");
  std::fflush(stdout);
  return right == context.rank_n();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string mode = arguments.empty() ? "" : arguments[0];
  const auto number = [&](size_t index) {
    return index < arguments.size() ? static_cast<uint32_t>(std::stoul(arguments[index])) : 0U;
  };
  if (mode == "--sleep-before-join") {
    const char* rank = std::getenv("STRIPLINE_RANK");      // NOLINT(concurrency-mt-unsafe)
    if (rank == nullptr) rank = std::getenv("PMIX_RANK");  // NOLINT(concurrency-mt-unsafe)
    while (rank != nullptr && std::to_string(number(1)) == rank) ::pause();
  }

  auto joined = Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  Context& context = **joined;
  if (mode == "--kill-first" && context.rank_me() == number(1)) ::kill(::getpid(), SIGKILL);
  if (!greet(context)) return 8;

  if (mode == "--kill") {
    if (context.rank_me() == number(1)) ::kill(::getpid(), SIGKILL);
    context.barrier();
  }
  if (mode == "--exit") {
    if (context.rank_me() == number(1)) ::_exit(static_cast<int>(number(2)));
    context.barrier();
  }
  if (mode == "--stale") {
    const auto gone = context.new_symmetric_array<rank_t>(1);
    if (!gone.ok()) return stripline::report(gone.error());
    context.delete_symmetric_array(*gone);
    context.rget(context.on_rank(*gone, (context.rank_me() + 1) % context.rank_n()));
  }
  if (mode == "--barrier") context.barrier();
  if (mode == "--wait") context.wait_until([] { return false; });
  return mode == "--return" ? static_cast<int>(number(1)) : 0;
}
