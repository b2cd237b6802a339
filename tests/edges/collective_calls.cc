// Collective calls of context.h and team.h, and functions of reduction.h.
#include <array>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <stripline/reduction.h>
#include <stripline/team.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

constexpr uint64_t kSum = 10 + 11;  // rank 0 contributes 10, rank 1 11

std::span<uint64_t> data_of(Trial& t, size_t memory_argument, size_t length_argument) {
  return {t.memory(memory_argument), t.count(length_argument)};
}

void add_of_context(std::vector<Call>& calls) {
  calls.push_back({"context.h", "barrier", true, {}, [](Trial& t) {
                     t.context.barrier();
                     t.context.barrier_async().wait();
                     const future open = t.context.barrier_async();
                     t.context.barrier();
                     t.right(open.is_ready());
                   }});
  calls.push_back({"context.h", "broadcast", true, {rank}, [](Trial& t) {
                     t.right(t.context.broadcast(uint64_t{t.me} + 10, t.rank(0)) == t.rank(0) + 10);
                   }});
  calls.push_back(
      {"context.h", "broadcast", true, {memory, length}, [](Trial& t) {
         if (t.me == 1) t.own.fill(0);
         const auto data = data_of(t, 0, 1);
         t.context.broadcast({reinterpret_cast<std::byte*>(data.data()), data.size() * 8}, 0);
         for (size_t i = 0; i < data.size(); ++i) t.right(data[i] == 5000 + i);
       }});
  calls.push_back({"context.h", "reduce_all", true, {option}, [](Trial& t) {
                     const auto op = t.option<Context::ReduceOp>(0);
                     const uint64_t got = t.context.reduce_all(uint64_t{10} + t.me, op);
                     t.right(got == (op == Context::ReduceOp::sum ? kSum : 10));
                     t.context.reduce_all(1.0, op);
                   }});
  calls.push_back({"context.h", "am_quiesce", true, {}, [](Trial& t) { t.context.am_quiesce(); }});
  calls.push_back(
      {"context.h",
       "wait_signal",
       false,
       {place},
       [](Trial& t) {
         // The rank's own flag is raised already.
         const bool mine = t.kind(0) == Kind::zero;
         t.right(t.context.wait_signal(t.kind(0) == Kind::usual ? t.array : t.place(0), 1) >= 1 ||
                 mine);
       },
       {Kind::largest}});
}

void add_of_functions(std::vector<Call>& calls) {
  calls.push_back({"reduction.h", "allreduce", true, {option}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto sum = [&t](uint64_t a, uint64_t b) -> uint64_t {
                       if (t.kind(0) == Kind::nonsense) throw std::runtime_error("not today");
                       return a + b;
                     };
                     // zero: the blocking one alone; nonsense: throws in the other one.
                     if (t.kind(0) != Kind::zero) {
                       t.right(all.allreduce_async(uint64_t{10} + t.me, sum).wait() == kSum);
                     }
                     t.right(all.allreduce(uint64_t{10} + t.me, sum) == kSum);
                     t.right(t.kind(0) != Kind::nonsense);
                   }});
  calls.push_back({"reduction.h", "scan", true, {option}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto sum = [&t](uint64_t a, uint64_t b) -> uint64_t {
                       if (t.kind(0) == Kind::nonsense) throw std::runtime_error("not today");
                       return a + b;
                     };
                     const uint64_t mine = uint64_t{10} + t.me;
                     t.right(all.inclusive_scan(mine, sum) == (t.me == 0 ? 10 : kSum));
                     t.right(all.reduce(mine, sum, 0) == (t.me == 0 ? kSum : mine));
                     // The other rank knows nothing of what ends this one's part.
                     t.context.barrier();
                     t.right(t.kind(0) != Kind::nonsense);
                   }});
}

void add_of_teams(std::vector<Call>& calls) {
  calls.push_back({"team.h", "broadcast", true, {rank}, [](Trial& t) {
                     const team all = team::world(t.context);
                     t.right(all.broadcast(uint64_t{t.me} + 10, t.rank(0)) == t.rank(0) + 10);
                     t.right(all.reduce(uint64_t{10} + t.me, op_add{}, t.rank(0)) ==
                             (t.me == t.rank(0) ? kSum : 10 + t.me));
                     t.right(all.broadcast_async(uint64_t{t.me} + 10, t.rank(0)).wait() ==
                             t.rank(0) + 10);
                   }});
  calls.push_back({"team.h", "barrier", true, {option}, [](Trial& t) {
                     team all = team::world(t.context);
                     const team moved = std::move(all);
                     const team none;
                     t.right(!none && !all && moved);
                     if (t.kind(0) == Kind::usual) return moved.barrier();
                     if (t.kind(0) == Kind::zero) {
                       all.barrier();
                     } else {
                       none.barrier_async().wait();
                     }
                     t.right(false);
                   }});
  calls.push_back({"team.h", "world_rank", false, {rank}, [](Trial& t) {
                     const team all = team::world(t.context);
                     t.right(all.from_world(t.rank(0)).has_value() == (t.rank(0) < Trial::kRanks));
                     t.right(all.world_rank(t.rank(0)) == t.rank(0));
                   }});
  calls.push_back({"team.h",
                   "split",
                   true,
                   {option},
                   [](Trial& t) {
                     const team all = team::world(t.context);
                     const uint32_t colour = t.kind(0) == Kind::usual  ? 7
                                             : t.kind(0) == Kind::zero ? t.me
                                                                       : team::no_colour;
                     team part = all.split(colour, -5 * int64_t{t.me});
                     t.right(static_cast<bool>(part) == (t.kind(0) != Kind::nonsense));
                     if (!part) return t.right(true);
                     t.right(part.allreduce(uint64_t{1}, op_add{}) == part.rank_n());
                     team moved = std::move(part);
                     t.right(!part);
                   },
                   {Kind::nonsense}});
  calls.push_back({"team.h", "allreduce", true, {memory, length, option}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto data = data_of(t, 0, 1);
                     all.allreduce(
                         data, data, op_add{},
                         t.kind(2) == Kind::usual  ? collective_algorithm::recursive_doubling
                         : t.kind(2) == Kind::zero ? collective_algorithm::automatic
                                                   : static_cast<collective_algorithm>(200));
                     for (size_t i = 0; i < data.size(); ++i) t.right(data[i] == 2 * (5000 + i));
                     if (!data.empty()) t.own[0] = 5000;
                     for (size_t i = 0; i < data.size(); ++i) t.own[i] = 5000 + i;
                   }});
  calls.push_back({"team.h", "allgather", true, {memory, length}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto in = data_of(t, 0, 1);
                     std::vector<uint64_t> out(Trial::kRanks * std::min<size_t>(in.size(), 64));
                     all.allgather(in, out);
                     for (size_t i = 0; i < out.size(); ++i)
                       t.right(out[i] == 5000 + i % in.size());
                   }});
  calls.push_back({"team.h", "all_to_all", true, {memory, length}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto in = data_of(t, 0, 1);
                     std::vector<uint64_t> out(std::min<size_t>(in.size(), 64));
                     all.all_to_all(in, out);
                     for (size_t i = 0; i < out.size(); ++i) {
                       t.right(out[i] == 5000 + t.me * out.size() / 2 + i % (out.size() / 2));
                     }
                   }});
  calls.push_back(
      {"team.h",
       "gather_v",
       true,
       {count, rank},
       [](Trial& t) {
         const team all = team::world(t.context);
         // Rank 0 contributes two elements, rank 1 three.
         const std::vector<size_t> counts = {2, t.kind(0) == Kind::usual ? 3 : t.count(0)};
         const std::vector<size_t> offsets = {0, 2};
         std::vector<uint64_t> out(5);
         const std::span<const uint64_t> in(t.own.data(), t.me == 0 ? 2 : 3);
         all.gather_v(in, out, counts, offsets, t.rank(1));
         if (t.me == t.rank(1)) t.right(out[1] == 5001 && out[4] == 5002);
       },
       {Kind::largest}});
  calls.push_back({"team.h", "scatter", true, {memory, rank}, [](Trial& t) {
                     const team all = team::world(t.context);
                     std::array<uint64_t, 2> out{};
                     all.scatter(std::span<const uint64_t>(t.memory(0), 4), out, t.rank(1));
                     t.right(out[1] == 5000 + 2 * t.me + 1);
                   }});
  calls.push_back({"team.h", "all_to_all_v", true, {option}, [](Trial& t) {
                     const team all = team::world(t.context);
                     // usual: one element for each rank; zero: none; nonsense: lists too short.
                     const size_t each = t.kind(0) == Kind::zero ? 0 : 1;
                     const std::vector<size_t> counts(t.kind(0) == Kind::nonsense ? 1 : 2, each);
                     const std::vector<size_t> offsets = {0, 1};
                     std::array<uint64_t, 2> out{};
                     all.all_to_all_v(std::span<const uint64_t>(t.own.data(), 2), counts, offsets,
                                      out, counts, offsets);
                     t.right(out[0] == (each == 0 ? 0 : 5000 + t.me));
                   }});
  calls.push_back({"team.h", "reduce_scatter", true, {memory}, [](Trial& t) {
                     const team all = team::world(t.context);
                     std::array<uint64_t, 2> out{};
                     all.reduce_scatter(std::span<const uint64_t>(t.memory(0), 4), out, op_add{});
                     t.right(out[0] == 2 * (5000 + 2 * t.me));
                   }});
  calls.push_back(
      {"team.h", "scan", true, {memory, length}, [](Trial& t) {
         const team all = team::world(t.context);
         t.right(all.inclusive_scan(uint64_t{10} + t.me, op_add{}) == (t.me == 0 ? 10 : kSum));
         t.right(all.exclusive_scan(uint64_t{10}, uint64_t{3}, op_add{}) == (t.me == 0 ? 3 : 10));
         std::vector<uint64_t> out(std::min<size_t>(t.count(1), 64));
         all.inclusive_scan(data_of(t, 0, 1), out, op_max{});
         for (size_t i = 0; i < out.size(); ++i) t.right(out[i] == 5000 + i);
       }});
}

// usual: the team of all ranks; zero: one that has been moved from; nonsense: none.
team team_of(Trial& t, size_t option_argument) {
  team all = team::world(t.context);
  if (t.kind(option_argument) == Kind::usual) return all;
  team moved = std::move(all);
  return t.kind(option_argument) == Kind::zero ? std::move(all) : team();
}

void add_of_no_team(std::vector<Call>& calls) {
  calls.push_back({"team.h", "broadcast_async", true, {option}, [](Trial& t) {
                     const team ranks = team_of(t, 0);
                     t.right(ranks.broadcast_async(uint64_t{t.me} + 10, 1).wait() == 11);
                     t.right(t.kind(0) == Kind::usual);
                   }});
  calls.push_back({"team.h", "allreduce_async", true, {option}, [](Trial& t) {
                     const team ranks = team_of(t, 0);
                     t.right(ranks.allreduce_async(uint64_t{t.me} + 10, op_add{}).wait() == kSum);
                     t.right(t.kind(0) == Kind::usual);
                   }});
  calls.push_back({"team.h", "allreduce_async", true, {memory, option}, [](Trial& t) {
                     const team ranks = team_of(t, 1);
                     const std::span<uint64_t> data(t.memory(0), Trial::kCount);
                     ranks.allreduce_async(data, data, op_max{}).wait();
                     t.right(t.own[3] == 5003 && t.kind(1) == Kind::usual);
                   }});
  calls.push_back({"team.h", "rank_n", false, {option}, [](Trial& t) {
                     t.right(team_of(t, 0).rank_n() == Trial::kRanks);
                     t.right(t.kind(0) == Kind::usual);
                   }});
  calls.push_back({"team.h", "rank_me", false, {option}, [](Trial& t) {
                     t.right(team_of(t, 0).rank_me() == t.me);
                     t.right(t.kind(0) == Kind::usual);
                   }});
  calls.push_back({"team.h", "id", false, {option}, [](Trial& t) {
                     t.right(team_of(t, 0).id() == 0);
                     t.right(t.kind(0) == Kind::usual);
                   }});
}

// A call with the algorithm that an option argument names: zero: one that is for trees of whole
// messages; nonsense: none.
collective_algorithm algorithm_of(const Trial& t, size_t option_argument) {
  const Kind kind = t.kind(option_argument);
  return kind == Kind::usual  ? collective_algorithm::automatic
         : kind == Kind::zero ? collective_algorithm::binomial
                              : static_cast<collective_algorithm>(200);
}

// Two elements of each rank, in blocks of one for each; `out` has room for both ranks' blocks.
struct Blocks {
  std::array<uint64_t, 2> in;
  std::array<uint64_t, 4> out{};
};

constexpr std::array<size_t, 2> kOnes = {1, 1};
constexpr std::array<size_t, 2> kOneByOne = {0, 1};

// Operations that take an algorithm, by the name of the algorithms' operation, with what the first
// element of the result is on rank 1: rank r gives 10 + r and 20 + r.
struct WithAlgorithm {
  std::string_view name;
  void (*make)(const team&, Blocks&, collective_algorithm);
  uint64_t result;
};

constexpr std::array kWithAlgorithms = {
    WithAlgorithm{"broadcast",
                  [](const team& all, Blocks& b, collective_algorithm by) {
                    all.broadcast(b.in, 0, by);
                    b.out[0] = b.in[0];
                  },
                  10},
    WithAlgorithm{"reduce",
                  [](const team& all, Blocks& b, collective_algorithm by) {
                    all.reduce(b.in, std::span(b.out).first(2), op_add{}, 1, by);
                  },
                  21},
    WithAlgorithm{
        "gather",
        [](const team& all, Blocks& b, collective_algorithm by) { all.gather(b.in, b.out, 1, by); },
        10},
    WithAlgorithm{"scatter",
                  [](const team& all, Blocks& b, collective_algorithm by) {
                    all.scatter(b.in, std::span(b.out).first(1), 0, by);
                  },
                  20},
    WithAlgorithm{
        "allgather",
        [](const team& all, Blocks& b, collective_algorithm by) { all.allgather(b.in, b.out, by); },
        10},
    WithAlgorithm{"allgather_v",
                  [](const team& all, Blocks& b, collective_algorithm by) {
                    all.allgather_v(std::span(b.in).first(1), std::span(b.out).first(2), kOnes,
                                    kOneByOne, by);
                  },
                  10},
    WithAlgorithm{"all_to_all",
                  [](const team& all, Blocks& b, collective_algorithm by) {
                    all.all_to_all(b.in, std::span(b.out).first(2), by);
                  },
                  20},
    WithAlgorithm{"all_to_allv",
                  [](const team& all, Blocks& b, collective_algorithm by) {
                    all.all_to_all_v(b.in, kOnes, kOneByOne, std::span(b.out).first(2), kOnes,
                                     kOneByOne, by);
                  },
                  20},
    WithAlgorithm{"reduce_scatter",
                  [](const team& all, Blocks& b, collective_algorithm by) {
                    all.reduce_scatter(b.in, std::span(b.out).first(1), op_add{}, by);
                  },
                  41},
    WithAlgorithm{"scan",
                  [](const team& all, Blocks& b, collective_algorithm by) {
                    all.inclusive_scan(b.in, std::span(b.out).first(2), op_add{}, by);
                  },
                  21},
    WithAlgorithm{"scan",
                  [](const team& all, Blocks& b, collective_algorithm by) {
                    all.exclusive_scan(b.in, std::span(b.out).first(2), op_add{}, by);
                  },
                  10},
};

void add_of_algorithms(std::vector<Call>& calls) {
  for (const WithAlgorithm& one : kWithAlgorithms) {
    calls.push_back({"team.h", one.name, true, {option}, [of = &one](Trial& t) {
                       const team all = team::world(t.context);
                       Blocks blocks{.in = {uint64_t{10} + t.me, uint64_t{20} + t.me}};
                       of->make(all, blocks, algorithm_of(t, 0));
                       t.right(t.me == 0 || blocks.out[0] == of->result);
                     }});
  }
  calls.push_back({"team.h", "exclusive_scan", true, {memory, length}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto in = data_of(t, 0, 1);
                     std::vector<uint64_t> out(in.size(), 3);
                     all.exclusive_scan(in, out, op_max{});
                     for (size_t i = 0; i < out.size(); ++i) {
                       t.right(out[i] == (t.me == 0 ? 3 : 5000 + i));
                     }
                   }});
}

// Lists of counts and offsets of two blocks of one element each; zero: empty blocks; nonsense: one
// block of more elements than there are.
std::vector<size_t> counts_of(const Trial& t, size_t option_argument) {
  const Kind kind = t.kind(option_argument);
  return {kind == Kind::zero ? size_t{0} : size_t{1}, kind == Kind::usual  ? size_t{1}
                                                      : kind == Kind::zero ? size_t{0}
                                                                           : size_t{1} << 61};
}

void add_of_blocks(std::vector<Call>& calls) {
  static constexpr std::array<size_t, 2> kOffsets = {0, 1};
  calls.push_back({"team.h", "gather", true, {memory, length, rank}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto in = data_of(t, 0, 1);
                     std::vector<uint64_t> out(Trial::kRanks * in.size());
                     all.gather(in, out, t.rank(2));
                     if (t.me != t.rank(2)) return;
                     for (size_t i = 0; i < out.size(); ++i)
                       t.right(out[i] == 5000 + i % in.size());
                   }});
  calls.push_back({"team.h", "scatter_v", true, {memory, option, rank}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const std::vector<size_t> counts = counts_of(t, 1);
                     std::array<uint64_t, 1> out{};
                     all.scatter_v(std::span<const uint64_t>(t.memory(0), 2), counts, kOffsets,
                                   std::span(out).first(t.kind(1) == Kind::zero ? 0 : 1),
                                   t.rank(2));
                     t.right(out[0] == (t.kind(1) == Kind::zero ? 0 : 5000 + t.me));
                   }});
  calls.push_back({"team.h", "allgather_v", true, {memory, option}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const std::vector<size_t> counts = counts_of(t, 1);
                     std::array<uint64_t, 2> out{};
                     all.allgather_v(
                         std::span<const uint64_t>(t.memory(0), t.kind(1) == Kind::zero ? 0 : 1),
                         out, counts, kOffsets);
                     t.right(out[1] == (t.kind(1) == Kind::zero ? 0 : 5000));
                   }});
  calls.push_back({"team.h", "reduce", true, {memory, length, rank}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto in = data_of(t, 0, 1);
                     std::vector<uint64_t> out(in.size());
                     all.reduce(in, out, op_add{}, t.rank(2));
                     if (t.me != t.rank(2)) return;
                     for (size_t i = 0; i < out.size(); ++i) t.right(out[i] == 2 * (5000 + i));
                   }});
  calls.push_back({"team.h", "broadcast_async", true, {memory, length, rank}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto data = data_of(t, 0, 1);
                     all.broadcast_async(data, t.rank(2)).wait();
                     for (size_t i = 0; i < data.size(); ++i) t.right(data[i] == 5000 + i);
                   }});
  calls.push_back({"team.h", "allreduce_async", true, {memory, length}, [](Trial& t) {
                     const team all = team::world(t.context);
                     const auto in = data_of(t, 0, 1);
                     std::vector<uint64_t> out(in.size());
                     all.allreduce_async(in, out, op_add{}).wait();
                     for (size_t i = 0; i < out.size(); ++i) t.right(out[i] == 2 * (5000 + i));
                   }});
}

}  // namespace

void add_collective_calls(std::vector<Call>& calls) {
  add_of_context(calls);
  add_of_functions(calls);
  add_of_teams(calls);
  add_of_no_team(calls);
  add_of_blocks(calls);
  add_of_algorithms(calls);
}

}  // namespace stripline::edges
