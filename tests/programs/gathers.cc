// Plans of gathers between all ranks: each is made by an exchange of indices, used once, and given
// up. Without end for tests that end it by force, most often in the exchange.
//
//   gathers [PLANS]

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include <stripline/context.h>
#include <stripline/gather_plan.h>
#include <stripline/shared_array.h>

namespace {

using stripline::Context;

constexpr uint64_t kElements = 1 << 12;  // of a rank
constexpr size_t kReads = 1 << 13;

}  // namespace

int main(int argc, char** argv) {
  auto joined = Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  Context& context = **joined;
  const uint64_t elements = kElements * context.rank_n();
  const auto x = stripline::shared_array<uint64_t>::create(context, elements);
  if (!x.ok()) return stripline::report(x.error());
  std::mt19937_64 random(context.rank_me());
  std::vector<uint64_t> index(kReads);
  uint64_t sum = 0;
  constexpr uint64_t kWithoutEnd = std::numeric_limits<uint64_t>::max();
  for (uint64_t left = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kWithoutEnd; left > 0;
       --left) {
    for (uint64_t& element : index) element = random() % elements;
    auto plan = stripline::GatherPlan<uint64_t>::create(*x, index);
    if (!plan.ok()) return stripline::report(plan.error());
    plan->for_each(*x, [&sum](size_t, uint64_t value) { sum += value; });
  }
  return 0;
}
