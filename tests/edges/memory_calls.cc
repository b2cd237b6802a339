// Calls of context.h, global_ptr.h, memory_use.h, atomic.h, bulk.h, fine.h, vis.h, indexed_list.h,
// strict.h and lock.h: memory and one-sided operations.
#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/bulk.h>
#include <stripline/fine.h>
#include <stripline/indexed_list.h>
#include <stripline/lock.h>
#include <stripline/memory_use.h>
#include <stripline/strict.h>
#include <stripline/vis.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

global_ptr<uint64_t> flag_of(Trial& t, global_ptr<uint64_t> place) {
  return {place.where(), t.array.offset() + (Trial::kElements - 1) * sizeof(uint64_t)};
}

void add_one_sided(std::vector<Call>& calls) {
  calls.push_back({"context.h", "rget", false, {place, memory, count}, [](Trial& t) {
                     uint64_t* const to = t.memory(1);
                     t.context.rget(t.place(0), to, t.count(2)).wait();
                     expect_fetched(t, 0, to, t.count(2));
                   }});
  calls.push_back({"context.h", "rput", false, {memory, place, count}, [](Trial& t) {
                     uint64_t* const from = t.memory(0);
                     const future put = t.context.rput(from, t.place(1), t.count(2));
                     put.wait_source();
                     put.wait();
                     expect_stored(t, 1, from, t.count(2));
                   }});
  calls.push_back({"context.h", "rput_buffered", false, {memory, place, count}, [](Trial& t) {
                     uint64_t* const from = t.memory(0);
                     t.context.rput_buffered(from, t.place(1), t.count(2)).wait();
                     expect_stored(t, 1, from, t.count(2));
                   }});
  calls.push_back(
      {"context.h", "rput_signal", false, {memory, place, count}, [](Trial& t) {
         uint64_t* const from = t.memory(0);
         t.context.rput_signal(from, t.place(1), t.count(2), flag_of(t, t.place(1)), 9).wait();
         // The flag is the last element, which the data of the largest place contain.
         if (t.kind(1) != Kind::largest) expect_stored(t, 1, from, t.count(2));
         t.right(t.context.rget(flag_of(t, t.place(1))) == 9);
       }});
  calls.push_back({"context.h", "rput_signal", false, {place}, [](Trial& t) {
                     t.context
                         .rput_signal(t.own.data(), t.context.on_rank(t.array, t.place(0).where()),
                                      1, t.place(0), 9)
                         .wait();
                     t.right(t.context.rget(t.place(0)) == 9);
                   }});
  calls.push_back({"context.h", "rget_nbi", false, {place, memory, count}, [](Trial& t) {
                     uint64_t* const to = t.memory(1);
                     t.context.rget_nbi(t.place(0), to, t.count(2));
                     t.context.fence();
                     expect_fetched(t, 0, to, t.count(2));
                   }});
  calls.push_back({"context.h", "rput_nbi", false, {memory, place, count}, [](Trial& t) {
                     uint64_t* const from = t.memory(0);
                     t.context.rput_nbi(from, t.place(1), t.count(2));
                     t.context.fence(t.place(1).where());
                     expect_stored(t, 1, from, t.count(2));
                   }});
  calls.push_back({"context.h", "rget", false, {place}, [](Trial& t) {
                     t.right(t.context.rget(t.place(0)) == t.value_at(0, 0));
                   }});
  calls.push_back({"context.h", "rput", false, {place}, [](Trial& t) {
                     t.context.rput(uint64_t{7}, t.place(0));
                     t.right(t.context.rget(t.place(0)) == 7);
                   }});
  calls.push_back(
      {"context.h", "fence", false, {rank}, [](Trial& t) { t.context.fence(t.rank(0)); }});
  calls.push_back({"context.h", "service_delay", false, {rank}, [](Trial& t) {
                     t.right(t.context.service_delay(t.rank(0)) >= 0);
                   }});
  calls.push_back({"context.h", "wait_all", false, {}, [](Trial& t) {
                     const std::array<future, 2> both = {
                         t.context.rget(t.context.on_rank(t.array, 1), t.own.data(), 1), future()};
                     wait_all(both);
                     wait_all({});
                     t.right(wait_any({}) == 0 && wait_any(both) < 2 && both[0].is_ready());
                     t.right(t.own[0] == Trial::first(1));
                   }});
  calls.push_back({"context.h", "wait_until", false, {}, [](Trial& t) {
                     t.right(!t.context.wait_until([] { return false; }, 0));
                     t.right(t.context.wait_until([] { return true; }, -1));
                   }});
  calls.push_back({"context.h", "compute_for", false, {}, [](Trial& t) {
                     t.context.compute_for(0);
                     t.context.progress();
                     t.right(t.context.now_s() >= 0 && t.context.am_max_bytes() > 0);
                     t.right(t.context.work() == nullptr);
                   }});
  calls.push_back({"memory_use.h", "memory_use", false, {}, [](Trial& t) {
                     t.right(memory_use(t.context).segment_bytes >= Trial::kSegmentBytes);
                   }});
}

void add_regions(std::vector<Call>& calls) {
  calls.push_back({"bulk.h", "memput", false, {memory, place, count}, [](Trial& t) {
                     bulk_region region(t.context);
                     uint64_t* const from = t.memory(0);
                     memput(t.context, t.place(1), from, t.count(2));
                     expect_stored(t, 1, from, t.count(2));
                     {
                       const auto burst = region.aggregate();
                       memput(t.context, t.place(1), from, t.count(2));
                     }
                     expect_stored(t, 1, from, t.count(2));
                   }});
  calls.push_back({"bulk.h", "memget", false, {place, memory, count}, [](Trial& t) {
                     const bulk_region region(t.context);
                     uint64_t* const to = t.memory(1);
                     memget(t.context, to, t.place(0), t.count(2));
                     expect_fetched(t, 0, to, t.count(2));
                   }});
  calls.push_back({"bulk.h", "memcpy", false, {place, count}, [](Trial& t) {
                     const bulk_region region(t.context);
                     memcpy(t.context, t.array, t.place(0), t.count(1));
                     expect_fetched(t, 0, t.context.local(t.array), t.count(1));
                     memcpy(t.context, t.place(0), t.array, t.count(1));
                     expect_stored(t, 0, t.context.local(t.array), t.count(1));
                   }});
  calls.push_back({"fine.h", "fine_region::read", false, {place}, [](Trial& t) {
                     fine_region fine(t.context);
                     const lazy<uint64_t> value = fine.read(t.place(0));
                     fine.issue();
                     t.right(value == t.value_at(0, 0));
                   }});
  calls.push_back({"fine.h", "fine_region::write", false, {place}, [](Trial& t) {
                     fine_region fine(t.context);
                     fine.write(t.place(0), 7);
                     t.right(fine.read(t.place(0)) == 7);
                   }});
}

void add_allocations(std::vector<Call>& calls) {
  calls.push_back({"context.h", "new_symmetric_array", true, {count}, [](Trial& t) {
                     const auto made = t.context.new_symmetric_array<uint64_t>(t.count(0));
                     if (!made.ok()) return t.refused(made.error());
                     t.right(made->where() == t.me);
                     t.context.delete_symmetric_array(*made);
                   }});
  calls.push_back({"context.h",
                   "delete_symmetric_array",
                   true,
                   {place},
                   [](Trial& t) {
                     const auto made = t.context.new_symmetric_array<uint64_t>(4);
                     if (!made.ok()) return t.refused(made.error());
                     t.context.delete_symmetric_array(t.kind(0) == Kind::usual ? *made
                                                                               : t.place(0));
                   },
                   // The offset names the array, whichever rank the pointer is to.
                   {Kind::largest, Kind::foreign}});
  calls.push_back({"context.h", "allocate_local", false, {count}, [](Trial& t) {
                     const auto made = t.context.allocate_local<uint64_t>(t.count(0));
                     if (!made.ok()) return t.refused(made.error());
                     t.context.local(*made)[0] = 5;
                     t.context.deallocate_local(*made);
                   }});
  calls.push_back({"context.h",
                   "deallocate_local",
                   false,
                   {place},
                   [](Trial& t) {
                     const auto made = t.context.allocate_local<uint64_t>(4);
                     if (!made.ok()) return t.right(false);
                     t.context.deallocate_local(t.kind(0) == Kind::usual ? *made : t.place(0));
                   },
                   {Kind::largest, Kind::null}});
  calls.push_back({"context.h",
                   "try_global_ptr",
                   false,
                   {memory},
                   [](Trial& t) {
                     t.right(t.context.try_global_ptr(t.memory(0)).is_null());
                     t.right(t.context.try_global_ptr(t.context.local(t.array)) == t.array);
                   },
                   {Kind::null}});
  calls.push_back({"context.h",
                   "is_local",
                   false,
                   {rank},
                   [](Trial& t) {
                     t.right(t.context.is_local(t.rank(0)) <= (t.rank(0) < Trial::kRanks));
                     t.right(t.context.is_local(t.array));
                   },
                   {Kind::beyond, Kind::nonsense}});
}

void add_loads(std::vector<Call>& calls) {
  calls.push_back({"context.h", "local", false, {place}, [](Trial& t) {
                     global_ptr<uint64_t> place = t.place(0);
                     // Memory of this rank, but for what is of no rank. The end of the segment is
                     // a place in it.
                     if (t.kind(0) != Kind::null && t.kind(0) != Kind::foreign) {
                       place = t.context.on_rank(place, t.me);
                     }
                     if (t.kind(0) == Kind::beyond) place += 1;
                     const uint64_t* const here = t.context.local(place);
                     t.right(t.context.try_global_ptr(here) == place);
                     if (t.kind(0) != Kind::misaligned) {
                       t.right(*here == t.context.rget(place));
                     }
                   }});
  calls.push_back({"context.h",
                   "local",
                   false,
                   {option},
                   [](Trial& t) {
                     // usual: the end of the segment; zero: its beginning; nonsense: memory of the
                     // other rank, whether it can be reached or not.
                     const global_ptr<uint64_t> begin(t.me, 0);
                     const auto end = begin + Trial::kSegmentBytes / sizeof(uint64_t);
                     if (t.kind(0) != Kind::nonsense) {
                       t.right(static_cast<size_t>(t.context.local(end) - t.context.local(begin)) ==
                               Trial::kSegmentBytes / sizeof(uint64_t));
                       return;
                     }
                     const uint64_t* const there =
                         t.context.local(t.context.on_rank(t.array, t.other));
                     t.right(t.context.is_local(t.other) && *there == Trial::first(t.other));
                   },
                   {Kind::nonsense}});
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
}

void add_pointers(std::vector<Call>& calls) {
  calls.push_back({"global_ptr.h", "rget", false, {place, count}, [](Trial& t) {
                     // Some elements on; back from what is near the end of the array, and from
                     // below the segment, where elements on would be in it.
                     const global_ptr<uint64_t> from = t.place(0);
                     const bool back = t.kind(0) == Kind::largest || t.kind(0) == Kind::nonsense;
                     const auto n = back ? -static_cast<std::ptrdiff_t>(t.count(1))
                                         : static_cast<std::ptrdiff_t>(t.count(1));
                     const global_ptr<uint64_t> to = from + n;
                     t.right(to.where() == from.where() && to - n == from);
                     t.right(to - from == n || t.kind(1) == Kind::nonsense || from.is_null());
                     const uint64_t expected =
                         t.value_at(0, 0) + static_cast<uint64_t>(from.is_null() ? 0 : n);
                     t.right(t.context.rget(to) == expected);
                   }});
  calls.push_back({"global_ptr.h", "rget", false, {rank, option}, [](Trial& t) {
                     // usual: element 3 of the rank; zero: the first; nonsense: beyond what 44 bits
                     // hold.
                     const uint64_t element = t.kind(1) == Kind::usual ? 3 : 0;
                     const uint64_t offset =
                         t.array.offset() + element * sizeof(uint64_t) +
                         (t.kind(1) == Kind::nonsense ? uint64_t{1} << kOffsetBits : 0);
                     const global_ptr<uint64_t> there(t.rank(0), offset);
                     t.right(there.where() == std::min(t.rank(0), kMaxRanks - 1));
                     // Symmetric memory of two ranks: the elements between the offsets.
                     t.right(there - t.context.on_rank(t.array, t.other) ==
                                 static_cast<std::ptrdiff_t>(element) ||
                             t.kind(1) == Kind::nonsense);
                     t.right(t.context.rget(there) == Trial::first(t.rank(0), element));
                   }});
}

// Strides in bytes: a column of `array` as 4 x 4 elements, and consecutive elements.
constexpr std::array<std::ptrdiff_t, 1> kFar = {32};
constexpr std::array<std::ptrdiff_t, 1> kNear = {8};

void add_many_regions(std::vector<Call>& calls) {
  calls.push_back({"vis.h", "rget_strided", false, {place, memory, count}, [](Trial& t) {
                     uint64_t* const to = t.memory(1);
                     // The largest count fits with the short stride only.
                     const auto& stride =
                         t.kind(2) == Kind::largest || t.kind(0) == Kind::largest ? kNear : kFar;
                     rget_strided<1>(t.context, t.place(0), stride, to, kNear, {t.count(2)}).wait();
                     for (size_t i = 0; i < t.count(2); ++i) {
                       t.right(to[i] == t.value_at(0, i * static_cast<size_t>(stride[0]) / 8));
                     }
                   }});
  calls.push_back({"vis.h", "rput_strided", false, {memory, place, count, option}, [](Trial& t) {
                     uint64_t* const from = t.memory(0);
                     rput_strided<1>(t.context, std::as_const(from), kNear, t.place(1), kNear,
                                     {t.count(2)}, {.method = t.option<VisMethod>(3)})
                         .wait();
                     expect_stored(t, 1, from, t.count(2));
                   }});
  calls.push_back(
      {"vis.h", "rput_strided_signal", false, {memory, place, count, place}, [](Trial& t) {
         uint64_t* const from = t.memory(0);
         const auto flag = t.kind(3) == Kind::usual ? flag_of(t, t.place(1)) : t.place(3);
         rput_strided_signal<1>(t.context, std::as_const(from), kNear, t.place(1), kNear,
                                {t.count(2)}, flag, 9)
             .wait();
         t.right(t.context.rget(flag) == 9);
       }});
  calls.push_back({"vis.h", "rget_regular", false, {place, memory, count}, [](Trial& t) {
                     const std::vector<global_ptr<uint64_t>> from = {t.place(0)};
                     const std::vector<uint64_t*> to = {t.memory(1)};
                     rget_regular(t.context, from.begin(), from.end(), t.count(2), to.begin(),
                                  to.end(), t.count(2))
                         .wait();
                     expect_fetched(t, 0, to[0], t.count(2));
                   }});
  calls.push_back(
      {"vis.h", "rput_irregular", false, {memory, place, count}, [](Trial& t) {
         const std::vector<std::pair<const uint64_t*, size_t>> from = {{t.memory(0), t.count(2)}};
         const std::vector<std::pair<global_ptr<uint64_t>, size_t>> to = {{t.place(1), t.count(2)}};
         rput_irregular(t.context, from.begin(), from.end(), to.begin(), to.end()).wait();
         expect_stored(t, 1, from[0].first, t.count(2));
       }});
  calls.push_back({"vis.h",
                   "rput_regular",
                   false,
                   {count},
                   [](Trial& t) {
                     // Unless usual, the destination is larger than the source.
                     const std::vector<const uint64_t*> from = {t.own.data()};
                     const std::vector<global_ptr<uint64_t>> to = {t.context.on_rank(t.array, 1)};
                     const size_t runs = t.count(0);
                     rput_regular(t.context, from.begin(), from.end(), runs, to.begin(), to.end(),
                                  t.kind(0) == Kind::usual ? runs : runs + 1)
                         .wait();
                   },
                   {Kind::largest}});
}

// The numbers of the first elements; the last one is that of an element argument unless it is
// usual.
indexed_list list_of(const Trial& t, size_t length_argument, size_t element_argument) {
  std::vector<uint32_t> numbers(t.count(length_argument));
  std::iota(numbers.begin(), numbers.end(), 0U);
  const Kind kind = t.kind(element_argument);
  if (!numbers.empty() && kind != Kind::usual) {
    const uint64_t number = kind == Kind::beyond ? Trial::kSegmentBytes / sizeof(uint64_t)
                                                 : t.element(element_argument);
    numbers.back() = static_cast<uint32_t>(std::min<uint64_t>(number, ~uint32_t{0}));
  }
  return indexed_list(std::move(numbers));
}

void add_indexed(std::vector<Call>& calls) {
  calls.push_back(
      {"indexed_list.h", "rget_indexed", false, {place, memory, length, element}, [](Trial& t) {
         const indexed_list from = list_of(t, 2, 3);
         const indexed_list to = indexed_list::in_order(from.size());
         rget_indexed(t.context, t.place(0), from, t.memory(1), to).wait();
         if (from.size() > 1) t.right(t.own[0] == t.value_at(0, 0));
       }});
  calls.push_back(
      {"indexed_list.h", "rput_indexed", false, {memory, place, option}, [](Trial& t) {
         // usual: 4 elements in reverse; zero: none; nonsense: lists that differ.
         const indexed_list from = indexed_list::in_order(t.kind(2) == Kind::zero ? 0 : 4);
         const indexed_list to(t.kind(2) == Kind::usual  ? std::vector<uint32_t>{3, 2, 1, 0}
                               : t.kind(2) == Kind::zero ? std::vector<uint32_t>()
                                                         : std::vector<uint32_t>{1});
         const uint64_t* const source = t.memory(0);
         rput_indexed(t.context, source, from, t.place(1), to).wait();
         t.right(t.kind(2) == Kind::zero || t.context.rget(t.place(1) + 3) == source[0]);
       }});
  calls.push_back({"indexed_list.h", "rput_indexed_signal", false, {place, place}, [](Trial& t) {
                     const indexed_list both({1, 0});
                     const auto flag =
                         t.kind(1) == Kind::usual ? flag_of(t, t.place(0)) : t.place(1);
                     const uint64_t* const source = t.own.data();
                     rput_indexed_signal(t.context, source, both, t.place(0), both, flag, 9).wait();
                     t.right(t.context.rget(flag) == 9);
                   }});
  calls.push_back(
      {"vis.h", "rget_irregular", false, {place, memory, count}, [](Trial& t) {
         const std::vector<std::pair<global_ptr<uint64_t>, size_t>> from = {
             {t.place(0), t.count(2)}};
         const std::vector<std::pair<uint64_t*, size_t>> to = {{t.memory(1), t.count(2)}};
         rget_irregular(t.context, from.begin(), from.end(), to.begin(), to.end()).wait();
         expect_fetched(t, 0, to[0].first, t.count(2));
       }});
  calls.push_back(
      {"vis.h", "rput_irregular_signal", false, {memory, place, place}, [](Trial& t) {
         const std::vector<std::pair<const uint64_t*, size_t>> from = {{t.memory(0), 2}};
         const std::vector<std::pair<global_ptr<uint64_t>, size_t>> to = {{t.place(1), 2}};
         const auto flag = t.kind(2) == Kind::usual ? flag_of(t, t.place(1)) : t.place(2);
         rput_irregular_signal(t.context, from.begin(), from.end(), to.begin(), to.end(), flag, 9)
             .wait();
         t.right(t.context.rget(flag) == 9);
       }});
}

}  // namespace

void add_memory_calls(std::vector<Call>& calls) {
  add_one_sided(calls);
  add_regions(calls);
  add_allocations(calls);
  add_loads(calls);
  add_pointers(calls);
  add_atomics(calls);
  add_many_regions(calls);
  add_indexed(calls);
}

}  // namespace stripline::edges
