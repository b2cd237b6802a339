// RPCs between processes: every rank asks every other one for the address that a function has
// there, and for what it has in its segment. Prints "rank R: N addresses, all answers right"; N is
// 1 only if the system places programs at the same address.
//
//   ask           as above
//   ask --throw   rank 0's function throws; the others print the error they got, and all end well

#include <cstdint>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>

#include <stripline/context.h>
#include <stripline/rpc.h>

namespace {

using stripline::Context;
using stripline::rank_t;

uint64_t address() { return reinterpret_cast<uintptr_t>(&address); }

}  // namespace

int main(int argc, char** argv) {
  auto joined = Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  Context& context = **joined;
  if (argc == 2 && std::string(argv[1]) == "--throw") {
    try {
      stripline::rpc(context, 0, [] { throw std::runtime_error("not today"); }).wait();
    } catch (const stripline::rpc_error& error) {
      std::printf("rank %u: %s\n", context.rank_me(), error.what());
    }
    return 0;
  }
  const auto mine = context.new_symmetric_array<uint64_t>(1);
  if (!mine.ok()) return stripline::report(mine.error());
  *context.local(*mine) = 1000 + context.rank_me();
  context.barrier();
  std::set<uint64_t> addresses;
  bool right = true;
  for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
    addresses.insert(stripline::rpc(context, rank, [] { return address(); }).wait());
    const uint64_t value = stripline::rpc(
                               context, rank,
                               [](Context& there, stripline::global_ptr<uint64_t> place) {
                                 return *there.local(there.on_rank(place, there.rank_me()));
                               },
                               *mine)
                               .wait();
    right = right && value == 1000 + rank;
  }
  std::printf("rank %u: %zu addresses, %s\n", context.rank_me(), addresses.size(),
              right ? "all answers right" : "WRONG answers");
  return right ? 0 : 1;
}
