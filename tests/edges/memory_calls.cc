// Calls of context.h, memory_use.h, bulk.h and fine.h: memory and one-sided operations.
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <stripline/bulk.h>
#include <stripline/fine.h>
#include <stripline/memory_use.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

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
  calls.push_back({"context.h", "fence", false, {}, [](Trial& t) {
                     const global_ptr<uint64_t> there = t.context.on_rank(t.array, t.other);
                     t.context.fence();  // of nothing
                     t.context.rput_nbi(t.own.data(), there, 2);
                     t.context.rget_nbi(t.array, t.own.data() + 8, 1);
                     t.context.fence();
                     t.right(t.context.rget(there + 1) == 5001 && t.own[8] == Trial::first(t.me));
                   }});
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
                     const MemoryUse use = memory_use(t.context);
                     t.right(use.segment_bytes >= Trial::kSegmentBytes);
                     t.right(use.total_bytes(Trial::kRanks) >= use.segment_bytes);
                   }});
}

void add_times(std::vector<Call>& calls) {
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  // usual: no time; zero: no condition, which is refused; nonsense: a time that is not a number.
  calls.push_back({"context.h", "wait_until", false, {option}, [](Trial& t) {
                     if (t.kind(0) == Kind::zero) {
                       t.context.wait_until(nullptr, 0);
                       t.right(false);
                     }
                     t.right(!t.context.wait_until([] { return false; },
                                                   t.kind(0) == Kind::nonsense ? kNoNumber : -1));
                   }});
  // zero: less than no time, which is refused; nonsense: not a number.
  calls.push_back({"context.h", "compute_for", false, {option}, [](Trial& t) {
                     const double before_s = t.context.now_s();
                     t.context.compute_for(t.kind(0) == Kind::usual  ? 1e-6
                                           : t.kind(0) == Kind::zero ? -1
                                                                     : kNoNumber);
                     t.right(t.kind(0) != Kind::zero && t.context.now_s() >= before_s);
                   }});
}

// What is no more than a copy where memory is in reach, of few bytes.
void add_copies_in_reach(std::vector<Call>& calls) {
  constexpr size_t kFew = 2;
  const auto add = [&calls](std::string_view name, std::vector<Argument> arguments,
                            void (*make)(Trial&)) {
    calls.push_back({.header = "context.h",
                     .name = name,
                     .arguments = std::move(arguments),
                     .make = make,
                     .in_reach = true});
  };
  add("rget_nbi", {place, memory}, [](Trial& t) {
    t.context.rget_nbi(t.place(0), t.memory(1), kFew);
    t.context.fence();
    expect_fetched(t, 0, t.memory(1), kFew);
  });
  add("rput_nbi", {memory, place}, [](Trial& t) {
    const uint64_t* const from = t.memory(0);
    t.context.rput_nbi(from, t.place(1), kFew);
    t.context.fence();
    expect_stored(t, 1, from, kFew);
  });
  add("rput", {place}, [](Trial& t) {
    t.context.rput(uint64_t{7}, t.place(0));
    t.right(t.context.rget(t.place(0)) == 7);
  });
}

// A job of this process alone, beside that of the trial. The size of its segment; and zero: a mode
// of threads that does not exist, nonsense: a path that does not.
void join_another_job(Trial& t) {
  Options options;
  options.fabric = "emulated:opteron-vapi,jitter=off,compute=none";
  options.clock = "virtual";
  options.segment_bytes = t.kind(0) == Kind::usual ? Trial::kSegmentBytes : t.count(0);
  if (t.kind(1) == Kind::zero) options.threads = static_cast<thread_mode>(200);
  if (t.kind(1) == Kind::nonsense) options.same_node = "sideways";
  const auto made = Context::init(options);
  if (!made.ok()) return t.refused(made.error());
  t.right((*made)->rank_n() == 1 && (*made)->rank_me() == 0);
  t.right((*made)->broadcast(uint64_t{3}, 0) == 3);
}

void add_joining(std::vector<Call>& calls) {
  calls.push_back({"context.h",
                   "Context::init",
                   false,
                   {count, option},
                   join_another_job,
                   {Kind::beyond, Kind::nonsense}});
}

// Regions of these sizes of buffers, which only decide how a call is carried out.
void add_options_of_regions(std::vector<Call>& calls) {
  // zero: sources do not change; nonsense: a region with other options inside of it.
  calls.push_back({"bulk.h",
                   "memput",
                   false,
                   {count, option},
                   [](Trial& t) {
                     BulkOptions options;
                     options.buffer_bytes = t.count(0);
                     options.stable_sources = t.kind(1) == Kind::zero;
                     const bulk_region region(t.context, options);
                     std::optional<bulk_region> within;
                     if (t.kind(1) == Kind::nonsense) within.emplace(t.context);
                     const global_ptr<uint64_t> there = t.context.on_rank(t.array, t.other);
                     memput(t.context, there, t.own.data(), 4);
                     memget(t.context, t.own.data() + 8, there, 4);
                     t.right(t.own[8] == 5000 && t.own[11] == 5003);
                     t.right(t.context.rget(there + 3) == 5003);
                   },
                   {Kind::beyond, Kind::nonsense}});
  // zero: nothing is kept; nonsense: the region is for many barriers.
  calls.push_back({"fine.h",
                   "fine_region::read",
                   false,
                   {count, option},
                   [](Trial& t) {
                     FineOptions options;
                     options.buffer_bytes = t.count(0);
                     options.keeps = t.kind(1) != Kind::zero;
                     options.across_barriers = t.kind(1) == Kind::nonsense;
                     fine_region fine(t.context, options);
                     const global_ptr<uint64_t> there = t.context.on_rank(t.array, t.other);
                     const lazy<uint64_t> before = fine.read(there + 1);
                     t.right(before.get() == Trial::first(t.other, 1));
                     fine.write(there, 7);
                     t.right(fine.value(there) == 7);
                     fine.write(there, Trial::first(t.other));
                   },
                   {Kind::beyond, Kind::nonsense}});
  calls.push_back({"fine.h", "fine_region::value", false, {place}, [](Trial& t) {
                     fine_region fine(t.context);
                     const fine_region within(t.context);
                     t.right(fine.value(t.place(0)) == t.value_at(0, 0));
                     lazy<uint64_t> read = fine.read(t.place(0));
                     fine.issue();
                     lazy<uint64_t> moved = std::move(read);
                     t.right(moved.get() == t.value_at(0, 0) && moved.get() == moved);
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

}  // namespace

void add_memory_calls(std::vector<Call>& calls) {
  add_one_sided(calls);
  add_times(calls);
  add_copies_in_reach(calls);
  add_joining(calls);
  add_regions(calls);
  add_options_of_regions(calls);
  add_allocations(calls);
  add_loads(calls);
}

}  // namespace stripline::edges
