// Calls of injection.h.
#include <string_view>
#include <utility>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/injection.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

void put_and_get(Trial& t) {
  auto mine = injection_context::open(t.context);
  if (!mine.ok()) return t.refused(mine.error());
  t.right(mine->has_own_queue() == mine->why_shared().empty());
  uint64_t* const memory = t.memory(1);
  mine->rget(t.place(0), memory, t.count(2));
  mine->fence();
  expect_fetched(t, 0, memory, t.count(2));
  mine->rput(memory, t.place(0), t.count(2));
  mine->fence();
  expect_stored(t, 0, memory, t.count(2));
}

// Every atomic operation once, in an order that ends with the value of before.
void operate(Trial& t) {
  auto mine = injection_context::open(t.context);
  if (!mine.ok()) return t.refused(mine.error());
  const global_ptr<uint64_t> variable = t.place(0);
  uint64_t* const previous = t.memory(1);
  const uint64_t was = t.value_at(0, 0);
  for (const AtomicPath path : {AtomicPath::automatic, AtomicPath::message}) {
    const atomic_domain<uint64_t> domain(t.context, path);
    const auto expect_previous = [&](uint64_t value) {
      mine->fence();
      t.right(*previous == value);
    };
    mine->load(domain, variable, previous);
    expect_previous(was);
    mine->fetch_add(domain, variable, 2, previous);
    expect_previous(was);
    mine->swap(domain, variable, 9, previous);
    expect_previous(was + 2);
    mine->max(domain, variable, 12);
    mine->fence();
    mine->min(domain, variable, 11);
    mine->fence();
    mine->bit_xor(domain, variable, 1);
    mine->fence();
    mine->add(domain, variable, 5);
    mine->fence();
    mine->compare_swap(domain, variable, 15, 16, previous);
    expect_previous(15);
    mine->compare_swap(domain, variable, 15, 17, previous);
    expect_previous(16);
    mine->store(domain, variable, was);
    mine->fence();
    t.right(domain.load(variable) == was);
  }
}

// usual: two of them, one of which takes over what the other has started; zero: one that does
// nothing; nonsense: one that has been moved from.
void live(Trial& t) {
  const global_ptr<uint64_t> there = t.context.on_rank(t.array, t.other);
  {
    auto first = injection_context::open(t.context);
    if (!first.ok()) return t.refused(first.error());
    first->fence();  // of nothing
    if (t.kind(0) == Kind::zero) return;
    auto second = injection_context::open(t.context);
    if (!second.ok()) return t.refused(second.error());
    first->rput(t.own.data(), there, 1);
    second->rput(t.own.data() + 1, there + 1, 1);
    *first = std::move(*second);
    if (t.kind(0) == Kind::nonsense) second->fence();  // NOLINT(bugprone-use-after-move)
  }
  t.right(t.context.rget(there) == 5000 && t.context.rget(there + 1) == 5001);
  t.right(t.kind(0) != Kind::nonsense);
}

// Without thread_mode::injecting.
void be_refused(Trial& t) {
  const auto made = injection_context::open(t.context);
  t.right(!made.ok() && made.error().code() == ErrorCode::failed_precondition);
}

}  // namespace

void add_injection_calls(std::vector<Call>& calls) {
  calls.push_back({"injection.h", "injection_context::open", false, {}, be_refused});
  const auto add = [&calls](std::string_view name, std::vector<Argument> arguments,
                            void (*make)(Trial&)) {
    calls.push_back({.header = "injection.h",
                     .name = name,
                     .arguments = std::move(arguments),
                     .make = make,
                     .injects = true});
  };
  add("injection_context", {place, memory, count}, put_and_get);
  add("atomic operation", {place, memory}, operate);
  add("injection_context", {option}, live);
}

}  // namespace stripline::edges
