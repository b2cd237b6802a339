// Calls of atomic.h, strict.h and lock.h.
#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/lock.h>
#include <stripline/strict.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

using Domain = atomic_domain<uint64_t>;
using Variable = global_ptr<uint64_t>;

constexpr uint64_t kOperand = 12;

// The forms of an operation, with kOperand: without a result, with a place for what the variable
// held, and one that waits and returns that.
struct AtomicForms {
  future (*plain)(const Domain&, Variable);
  future (*fetching)(const Domain&, Variable, uint64_t* previous);
  uint64_t (*waiting)(const Domain&, Variable);
  uint64_t (*result)(uint64_t was);
};

constexpr std::array kAtomics = {
    AtomicForms{[](const Domain& d, Variable v) { return d.store(v, kOperand); },
                [](const Domain& d, Variable v, uint64_t* p) { return d.swap(v, kOperand, p); },
                [](const Domain& d, Variable v) { return d.swap(v, kOperand); },
                [](uint64_t) { return kOperand; }},
    AtomicForms{
        [](const Domain& d, Variable v) { return d.add(v, kOperand); },
        [](const Domain& d, Variable v, uint64_t* p) { return d.fetch_add(v, kOperand, p); },
        [](const Domain& d, Variable v) { return d.fetch_add(v, kOperand); },
        [](uint64_t was) { return was + kOperand; }},
    AtomicForms{
        [](const Domain& d, Variable v) { return d.min(v, kOperand); },
        [](const Domain& d, Variable v, uint64_t* p) { return d.fetch_min(v, kOperand, p); },
        [](const Domain& d, Variable v) { return d.fetch_min(v, kOperand); },
        [](uint64_t was) { return std::min(was, kOperand); }},
    AtomicForms{
        [](const Domain& d, Variable v) { return d.max(v, kOperand); },
        [](const Domain& d, Variable v, uint64_t* p) { return d.fetch_max(v, kOperand, p); },
        [](const Domain& d, Variable v) { return d.fetch_max(v, kOperand); },
        [](uint64_t was) { return std::max(was, kOperand); }},
    AtomicForms{
        [](const Domain& d, Variable v) { return d.bit_and(v, kOperand); },
        [](const Domain& d, Variable v, uint64_t* p) { return d.fetch_and(v, kOperand, p); },
        [](const Domain& d, Variable v) { return d.fetch_and(v, kOperand); },
        [](uint64_t was) { return was & kOperand; }},
    AtomicForms{[](const Domain& d, Variable v) { return d.bit_or(v, kOperand); },
                [](const Domain& d, Variable v, uint64_t* p) { return d.fetch_or(v, kOperand, p); },
                [](const Domain& d, Variable v) { return d.fetch_or(v, kOperand); },
                [](uint64_t was) { return was | kOperand; }},
    AtomicForms{
        [](const Domain& d, Variable v) { return d.bit_xor(v, kOperand); },
        [](const Domain& d, Variable v, uint64_t* p) { return d.fetch_xor(v, kOperand, p); },
        [](const Domain& d, Variable v) { return d.fetch_xor(v, kOperand); },
        [](uint64_t was) { return was ^ kOperand; }},
};

void operate_in_all_forms(Trial& t, const AtomicForms& forms) {
  const Domain domain(t.context);
  const Variable variable = t.context.on_rank(t.array, t.other);
  const uint64_t was = Trial::first(t.other);
  const auto expect_result = [&] {
    t.right(domain.load(variable) == forms.result(was));
    domain.store(variable, was).wait();
  };
  forms.plain(domain, variable).wait();
  expect_result();
  uint64_t* const previous = t.memory(0);
  forms.fetching(domain, variable, previous).wait();
  t.right(previous == nullptr || *previous == was);
  expect_result();
  t.right(forms.waiting(domain, variable) == was);
  expect_result();
  t.own[0] = 5000;
}

void add_forms_of_atomics(std::vector<Call>& calls) {
  for (const AtomicForms& forms : kAtomics) {
    calls.push_back({"atomic.h",
                     "atomic operation",
                     false,
                     {memory},
                     [of = &forms](Trial& t) { operate_in_all_forms(t, *of); },
                     {Kind::null}});  // nothing is fetched
  }
  calls.push_back({"atomic.h", "atomic operation", false, {place}, [](Trial& t) {
                     const Domain domain(t.context);
                     const uint64_t was = t.value_at(0, 0);
                     t.right(domain.swap_async(t.place(0), 7).wait() == was);
                     t.right(domain.fetch_add_async(t.place(0), 2).wait() == 7);
                     t.right(domain.load_async(t.place(0)).wait() == 9);
                     domain.store(t.place(0), was).wait();
                     t.right(domain.path() == AtomicPath::message ||
                             Domain::provider_has_all(t.context));
                   }});
}

void add_atomics(std::vector<Call>& calls) {
  calls.push_back({"atomic.h", "atomic_domain", false, {option}, [](Trial& t) {
                     const atomic_domain<uint64_t> domain(t.context, t.option<AtomicPath>(0));
                     t.right(domain.path() != AtomicPath::automatic);
                   }});
  calls.push_back({"atomic.h",
                   "atomic operation",
                   false,
                   {place, memory},
                   [](Trial& t) {
                     uint64_t* const previous = t.memory(1);
                     const atomic_domain<uint64_t> domain(t.context);
                     domain.fetch_add(t.place(0), 2, previous).wait();
                     t.right(previous == nullptr || *previous == t.value_at(0, 0));
                     t.right(domain.load(t.place(0)) == t.value_at(0, 0) + 2);
                     domain.store(t.place(0), t.value_at(0, 0)).wait();
                   },
                   {Kind::null}});  // nothing is fetched
  calls.push_back({"atomic.h", "atomic operation", false, {place, memory}, [](Trial& t) {
                     const atomic_domain<uint64_t> domain(t.context);
                     domain.load(t.place(0), t.memory(1)).wait();
                     t.right(*t.memory(1) == t.value_at(0, 0));
                     t.own[0] = 5000;
                   }});
  calls.push_back({"atomic.h", "atomic operation", false, {place}, [](Trial& t) {
                     const atomic_domain<uint64_t> domain(t.context);
                     const uint64_t was = t.value_at(0, 0);
                     t.right(domain.compare_swap(t.place(0), was, 7) == was);
                     t.right(domain.compare_swap_async(t.place(0), was, 8).wait() == 7);
                     t.right(domain.fetch_max(t.place(0), 9) == 7);
                     domain.store(t.place(0), was).wait();
                     domain.bit_xor(t.place(0), 1);
                     t.right(domain.swap(t.place(0), was) == (was ^ 1));
                   }});
  calls.push_back({"atomic.h", "atomic operation", false, {place, memory}, [](Trial& t) {
                     const atomic_domain<uint64_t> domain(t.context);
                     domain.compare_swap(t.place(0), 1, 7, t.memory(1)).wait();
                     t.right(*t.memory(1) == t.value_at(0, 0));
                     t.own[0] = 5000;
                   }});
}

void add_strict_and_locks(std::vector<Call>& calls) {
  calls.push_back({"strict.h", "strict", false, {place}, [](Trial& t) {
                     strict_write(t.context, 4, t.place(0));
                     strict_fence(t.context);
                     t.right(strict_read(t.context, t.place(0)) == 4);
                   }});
  calls.push_back({"lock.h", "global_lock", true, {rank}, [](Trial& t) {
                     auto made = global_lock::create(t.context, t.rank(0));
                     if (!made.ok()) return t.refused(made.error());
                     {
                       const std::lock_guard hold(*made);
                       t.right(t.context.now_s() >= 0);
                     }
                   }});
  calls.push_back({"lock.h", "global_lock", true, {option}, [](Trial& t) {
                     auto made = global_lock::create(t.context);
                     if (!made.ok()) return t.refused(made.error());
                     if (t.kind(0) == Kind::nonsense) made->unlock();  // not locked
                     if (t.me == 0) {
                       t.right(made->try_lock());
                       made->unlock();
                     }
                   }});
  // zero: is tried while this rank holds it; nonsense: is taken once more.
  calls.push_back({"lock.h", "global_lock", true, {option}, [](Trial& t) {
                     auto made = global_lock::create(t.context);
                     if (!made.ok()) return t.refused(made.error());
                     const std::lock_guard hold(*made);
                     if (t.kind(0) == Kind::usual) return;
                     if (t.kind(0) == Kind::nonsense) made->lock();
                     t.right(!made->try_lock());
                   }});
}

}  // namespace

void add_atomic_calls(std::vector<Call>& calls) {
  add_atomics(calls);
  add_forms_of_atomics(calls);
  add_strict_and_locks(calls);
}

}  // namespace stripline::edges
