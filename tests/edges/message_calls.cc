// Calls of am.h, rpc.h, future.h and progress.h, and active messages of context.h.
#include <atomic>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <stripline/am.h>
#include <stripline/future.h>
#include <stripline/progress.h>
#include <stripline/rpc.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

void add_messages(std::vector<Call>& calls) {
  calls.push_back({"context.h", "am_send", true, {rank, count}, [](Trial& t) {
                     size_t came = 0;
                     uint64_t heard = 0;
                     const uint32_t handler =
                         t.context.register_am([&](rank_t, std::span<const std::byte> payload) {
                           came += payload.size();
                           ++heard;
                         });
                     t.context.barrier();
                     const std::vector<std::byte> payload(t.kind(1) == Kind::beyond ||
                                                                  t.kind(1) == Kind::nonsense
                                                              ? t.context.am_max_bytes() + 1
                                                              : t.count(1));
                     if (t.me == 0) t.context.am_send(t.rank(0), handler, payload);
                     t.context.am_quiesce();
                     t.right(t.me != t.rank(0) || (heard == 1 && came == payload.size()));
                   }});
  calls.push_back({"context.h", "am_send", false, {option}, [](Trial& t) {
                     const auto id = t.kind(0) == Kind::zero ? 0U : 5000U;  // neither is registered
                     if (t.kind(0) == Kind::usual) return;
                     t.context.am_send(1, id, {});
                     t.right(false);
                   }});
  calls.push_back({"context.h", "register_am", true, {option}, [](Trial& t) {
                     const uint32_t id = t.context.register_am(
                         t.kind(0) == Kind::nonsense ? AmHandler() : [](rank_t, auto) {});
                     t.right(id != 0);
                     t.context.barrier();
                     if (t.me == 0) t.context.am_send(1, id, {});
                     t.context.am_quiesce();
                   }});
  calls.push_back(
      {"am.h", "am", true, {rank, place, length}, [](Trial& t) {
         std::vector<uint64_t> there;
         const long_am put(t.context, [&](rank_t, auto, std::span<std::byte> data) {
           const auto* first = reinterpret_cast<const uint64_t*>(data.data());
           there.assign(first, first + data.size() / sizeof *first);
         });
         uint64_t value = 0;
         const short_am<uint64_t> tell(t.context, [&](rank_t, const uint64_t& v) { value = v; });
         t.context.barrier();
         if (t.me == 0) {
           put.send(t.rank(0), {}, std::span<const uint64_t>(t.own.data(), t.count(2)), t.place(1));
           tell.send(t.rank(0), 3);
         }
         t.context.am_quiesce();
         if (t.me != t.rank(0)) return;
         t.right(value == 3 && there.size() == t.count(2));
         for (size_t i = 0; i < there.size(); ++i) t.right(there[i] == 5000 + i);
       }});
}

// Messages with data of this rank's memory.
void add_data_of_messages(std::vector<Call>& calls) {
  calls.push_back({"context.h", "am_send", true, {memory, length}, [](Trial& t) {
                     size_t came = 0;
                     const uint32_t handler =
                         t.context.register_am([&](rank_t, std::span<const std::byte> payload) {
                           came = payload.size();
                         });
                     t.context.barrier();
                     const std::span<const uint64_t> values(t.memory(0), t.count(1));
                     if (t.me == 0) t.context.am_send(1, handler, std::as_bytes(values));
                     t.context.am_quiesce();
                     t.right(t.me == 0 || came == values.size_bytes());
                   }});
  calls.push_back({"am.h", "am", true, {memory, length}, [](Trial& t) {
                     size_t came = 0;
                     const long_am put(t.context,
                                       [&](rank_t, std::span<const std::byte>,
                                           std::span<std::byte> data) { came = data.size(); });
                     t.context.barrier();
                     const std::span<const uint64_t> values(t.memory(0), t.count(1));
                     if (t.me == 0) put.send(1, {}, values, t.context.on_rank(t.array, 1));
                     t.context.am_quiesce();
                     t.right(t.me == 0 || came == values.size_bytes());
                   }});
  calls.push_back({"rpc.h", "rpc", true, {memory, length}, [](Trial& t) {
                     const std::span<const uint64_t> values(t.memory(0), t.count(1));
                     if (t.me == 0) {
                       const auto count = rpc(
                           t.context, 1,
                           [](const std::vector<uint64_t>& arrived) { return arrived.size(); },
                           values);
                       t.right(count.wait() == values.size());
                     }
                     t.context.am_quiesce();
                   }});
}

void add_long_messages(std::vector<Call>& calls) {
  calls.push_back({"am.h", "am", true, {count}, [](Trial& t) {
                     size_t came = 0;
                     const long_am put(t.context,
                                       [&](rank_t, std::span<const std::byte> payload,
                                           std::span<std::byte>) { came = payload.size() + 1; });
                     t.context.barrier();
                     const size_t most = put.max_payload_bytes();
                     const std::vector<std::byte> payload(
                         t.kind(0) == Kind::largest                                 ? most
                         : t.kind(0) == Kind::beyond || t.kind(0) == Kind::nonsense ? most + 1
                                                                                    : t.count(0));
                     if (t.me == 0) {
                       put.send(1, payload, std::span<const uint64_t>(t.own.data(), 2),
                                t.context.on_rank(t.array, 1));
                     }
                     t.context.am_quiesce();
                     t.right(t.me == 0 || came == payload.size() + 1);
                   }});
  // Handlers that are empty functions: of a short message, and, nonsense, of a long one.
  calls.push_back({"am.h", "handler", true, {option}, [](Trial& t) {
                     uint64_t heard = 0;
                     short_am<uint64_t>::Handler on_short = [&](rank_t, const uint64_t& value) {
                       heard += value;
                     };
                     long_am::Handler on_long = [&](rank_t, std::span<const std::byte>,
                                                    std::span<std::byte>) { ++heard; };
                     if (t.kind(0) == Kind::zero) on_short = nullptr;
                     if (t.kind(0) == Kind::nonsense) on_long = nullptr;
                     const short_am<uint64_t> tell(t.context, std::move(on_short));
                     const long_am put(t.context, std::move(on_long));
                     t.context.barrier();
                     if (t.me == 0) {
                       tell.send(1, 3);
                       put.send(1, {}, std::span<const uint64_t>(t.own.data(), 1),
                                t.context.on_rank(t.array, 1));
                     }
                     t.context.am_quiesce();
                     t.right(t.me == 0 || heard == 4);
                   }});
}

void add_remote_calls(std::vector<Call>& calls) {
  calls.push_back({"rpc.h", "rpc", true, {rank}, [](Trial& t) {
                     if (t.me == 0) {
                       t.right(
                           rpc(
                               t.context, t.rank(0), [](uint64_t x) { return x + 1; }, uint64_t{4})
                               .wait() == 5);
                     }
                     t.context.am_quiesce();
                   }});
  calls.push_back(
      {"rpc.h", "rpc", true, {count}, [](Trial& t) {
         const size_t max = rpc_max_bytes(t.context) - sizeof(uint64_t);
         const std::string text(t.kind(0) == Kind::beyond     ? max + 1
                                : t.kind(0) == Kind::nonsense ? size_t{1} << 20
                                : t.kind(0) == Kind::largest  ? max
                                                              : t.count(0),
                                'a');
         if (t.me == 0) {
           t.right(rpc(
                       t.context, 1, [](const std::string& came) { return came.size(); }, text)
                       .wait() == text.size());
         }
         t.context.am_quiesce();
       }});
  calls.push_back({"rpc.h", "rpc", true, {option}, [](Trial& t) {
                     if (t.me == 0) {
                       const auto made = rpc(
                           t.context, 1,
                           [](int what) {
                             if (what == 0) throw std::runtime_error("not today");
                             return what;
                           },
                           t.kind(0) == Kind::zero ? 0 : 5);
                       bool thrown = false;
                       try {
                         t.right(made.wait() == 5);
                       } catch (const rpc_error&) {
                         thrown = true;
                       }
                       t.right(thrown == (t.kind(0) == Kind::zero));
                       if (t.kind(0) == Kind::nonsense) {
                         rpc_ff(t.context, 1, [] { throw std::runtime_error("rpc_ff throws"); });
                       }
                     }
                     t.context.am_quiesce();
                     t.right(t.kind(0) != Kind::nonsense);
                   }});
}

void add_one_way_calls(std::vector<Call>& calls) {
  calls.push_back({"rpc.h", "rpc", true, {rank, length}, [](Trial& t) {
                     static std::atomic<uint64_t> heard = 0;
                     heard = 0;
                     t.context.barrier();
                     if (t.me == 0) {
                       const std::vector<uint64_t> values(t.count(1), 3);
                       rpc_ff(
                           t.context, t.rank(0),
                           [](const std::vector<uint64_t>& came) { heard = came.size() + 1; },
                           values);
                     }
                     t.context.am_quiesce();
                     t.right(heard == 0 || heard == t.count(1) + 1);
                   }});
}

void add_futures(std::vector<Call>& calls) {
  calls.push_back({"future.h", "rget_async", false, {place}, [](Trial& t) {
                     t.right(rget_async(t.context, t.place(0)).wait() == t.value_at(0, 0));
                   }});
  calls.push_back(
      {"future.h",
       "then",
       false,
       {place, option},
       [](Trial& t) {
         // A pending future, one that is ready, both together; and a continuation that returns a
         // pending one.
         const future_of<uint64_t> there = rget_async(t.context, t.place(0));
         const uint64_t expected = t.value_at(0, 0);
         // Dropped, it may run at the end of the Context, when the trial has gone.
         const auto next = there.then([&context = t.context, place = t.array](uint64_t value) {
           return rget_async(context, place).then([value](uint64_t mine) { return value + mine; });
         });
         const auto all = when_all(next, make_ready(uint64_t{1}));
         if (t.kind(1) == Kind::zero) return;  // the futures are dropped
         if (t.kind(1) == Kind::nonsense) {
           bool thrown = false;
           try {
             next.then([](uint64_t) -> uint64_t { throw std::runtime_error("no"); }).wait();
           } catch (const std::runtime_error&) {
             thrown = true;
           }
           t.right(thrown);
         }
         const auto [sum, one] = all.wait();
         t.right(sum == expected + Trial::first(t.me) && one == 1);
       },
       {Kind::nonsense}});
  calls.push_back({"progress.h", "handlers_paused", false, {}, [](Trial& t) {
                     const handlers_paused paused(t.context);
                     const handlers_paused twice(t.context);
                     t.right(t.context.rget(t.array) == Trial::first(t.me));
                   }});
}

}  // namespace

void add_message_calls(std::vector<Call>& calls) {
  add_messages(calls);
  add_data_of_messages(calls);
  add_long_messages(calls);
  add_remote_calls(calls);
  add_one_way_calls(calls);
  add_futures(calls);
}

}  // namespace stripline::edges
