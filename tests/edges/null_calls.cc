// Calls that are given no function to call, and lists and values at a null pointer.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stripline/cached_gather.h>
#include <stripline/forall.h>
#include <stripline/future.h>
#include <stripline/gather.h>
#include <stripline/gather_plan.h>
#include <stripline/indexed_list.h>
#include <stripline/indirect.h>
#include <stripline/loop.h>
#include <stripline/nest.h>
#include <stripline/rpc.h>
#include <stripline/shared_updates.h>
#include <stripline/sparse_matrix.h>
#include <stripline/team.h>
#include <stripline/update.h>
#include <stripline/wavefront.h>
#include <stripline/worker_team.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

// Adds a call with one option to the table.
class Rows {
 public:
  explicit Rows(std::vector<Call>& calls) : calls_(calls) {}
  // Rank 0 makes it, or all ranks do.
  void add(std::string_view header, std::string_view name, std::function<void(Trial&)> make) {
    calls_.push_back({header, name, false, {option}, std::move(make)});
  }
  void add_collective(std::string_view header, std::string_view name,
                      std::function<void(Trial&)> make) {
    calls_.push_back({header, name, true, {option}, std::move(make)});
  }

 private:
  std::vector<Call>& calls_;
};

global_ptr<uint64_t> there(const Trial& t) { return t.context.on_rank(t.array, t.other); }

// Calls use(function). zero: with a null pointer to a function; nonsense: with an object that has
// none.
template <typename Signature, typename Function, typename Use>
void use_function(Trial& t, const Function& function, const Use& use) {
  if (t.kind(0) == Kind::zero) use(static_cast<Signature*>(nullptr));
  if (t.kind(0) == Kind::nonsense) use(std::function<Signature>());
  t.right(t.kind(0) == Kind::usual);
  use(function);
}

void add_bodies_of_foralls(Rows& rows) {
  const auto add = [&rows](const auto& affinity_in) {
    rows.add_collective("forall.h", "forall", [affinity_in](Trial& t) {
      use_function<void(int64_t)>(
          t, [](int64_t) {},
          [&](const auto& body) { forall(t.context, range(0, 4), affinity_in(t), body); });
    });
  };
  add([](const Trial&) { return affinity(1, 0); });
  add([](const Trial&) { return every_rank; });
  add([](const Trial&) { return rank_by([](int64_t) { return rank_t{0}; }); });
  add([](const Trial& t) { return owner_of(t.elements); });
  rows.add_collective("forall.h", "forall", [](Trial& t) {
    use_function<void(uint64_t&)>(
        t, [](uint64_t&) {}, [&t](const auto& body) { forall(t.context, zip(t.elements), body); });
  });
  rows.add_collective("forall.h", "affinity_by", [](Trial& t) {
    use_function<int64_t(int64_t)>(
        t, [](int64_t i) { return i; },
        [&t](const auto& number) {
          forall(t.context, range(0, 4), affinity_by(number), [](int64_t) {});
        });
  });
  rows.add_collective("forall.h", "rank_by", [](Trial& t) {
    use_function<rank_t(int64_t)>(
        t, [](int64_t) { return rank_t{1}; },
        [&t](const auto& rank) { forall(t.context, range(0, 4), rank_by(rank), [](int64_t) {}); });
  });
}

void add_bodies_of_loops(Rows& rows) {
  using Reading = LoopBlock<const uint64_t>;
  rows.add("loop.h", "loop", [](Trial& t) {
    use_function<void(size_t, size_t, const uint64_t*)>(
        t, [](size_t, size_t, const uint64_t*) {},
        [&t](const auto& body) { strip_for(t.context, there(t), 4, {}, body); });
  });
  rows.add("loop.h", "loop", [](Trial& t) {
    use_function<void(size_t, size_t, uint64_t*)>(
        t, [](size_t begin, size_t end, uint64_t* strip) { std::fill_n(strip, end - begin, 7); },
        [&t](const auto& body) { strip_write(t.context, there(t), 4, {}, body); });
  });
  rows.add("loop.h", "loop", [](Trial& t) {
    use_function<void()>(
        t, [] {},
        [&t](const auto& own_work) {
          const std::array<Reading, 1> blocks = {{{there(t), 4, nullptr}}};
          strip_for_blocks<uint64_t>(t.context, blocks, {}, own_work,
                                     [](size_t, size_t, size_t, const uint64_t*) {});
        });
  });
  rows.add("loop.h", "loop", [](Trial& t) {
    use_function<void(size_t, size_t, size_t, const uint64_t*)>(
        t, [](size_t, size_t, size_t, const uint64_t*) {},
        [&t](const auto& body) {
          const std::array<Reading, 1> blocks = {{{there(t), 4, nullptr}}};
          strip_for_blocks<uint64_t>(
              t.context, blocks, {}, [] {}, body);
        });
  });
  rows.add("loop.h", "loop", [](Trial& t) {
    use_function<void(size_t, size_t, size_t, uint64_t*)>(
        t,
        [](size_t, size_t begin, size_t end, uint64_t* strip) {
          std::fill_n(strip, end - begin, 7);
        },
        [&t](const auto& body) {
          const std::array<LoopBlock<uint64_t>, 1> blocks = {{{there(t), 4, nullptr}}};
          strip_write_blocks<uint64_t>(t.context, blocks, {}, body);
        });
  });
  rows.add("nest.h", "for_nest", [](Trial& t) {
    use_function<void(const uint64_t&)>(
        t, [](const uint64_t&) {},
        [&t](const auto& body) {
          const auto [i] = loop_indices<1>();
          for_nest(t.context, {size_t{4}}, body, read(there(t), i));
        });
  });
  rows.add("nest.h", "for_nest", [](Trial& t) {
    use_function<void(const uint64_t&)>(
        t, [](const uint64_t&) {},
        [&t](const auto& body) {
          const auto [i] = loop_indices<1>();
          for_nest(t.context, {{1, 4, 1}}, body, read(there(t), i));
        });
  });
  rows.add_collective("wavefront.h", "Wavefront", [](Trial& t) {
    use_function<void(size_t, size_t)>(
        t, [](size_t, size_t) {},
        [&t](const auto& body) {
          auto made = Wavefront::create(t.context, 1, {.stages = Trial::kRanks, .all_busy = false});
          if (!made.ok()) return t.refused(made.error());
          made->run(Wavefront::Stage<uint64_t>(), body);
          made->finish();
        });
  });
}

void add_bodies_of_gathers(Rows& rows) {
  rows.add_collective("gather_plan.h", "GatherPlan", [](Trial& t) {
    use_function<void(size_t, uint64_t)>(
        t, [](size_t, uint64_t) {},
        [&t](const auto& body) {
          auto made = GatherPlan<uint64_t>::create(t.elements, std::vector<uint64_t>{1, 2});
          if (!made.ok()) return t.refused(made.error());
          made->for_each(t.elements, body);
        });
  });
  rows.add_collective("gather_plan.h", "GatherPlan", [](Trial& t) {
    use_function<void(size_t, const gathered_values<uint64_t>&)>(
        t, [](size_t, const gathered_values<uint64_t>&) {},
        [&t](const auto& body) {
          auto made = GatherPlan<uint64_t>::create(t.elements, std::vector<uint64_t>{1, 2});
          if (!made.ok()) return t.refused(made.error());
          made->for_each(std::array<const shared_array<uint64_t>*, 1>{&t.elements}, body);
        });
  });
  rows.add("indirect.h", "for_each_indirect", [](Trial& t) {
    use_function<void(int64_t, const uint64_t&)>(
        t, [](int64_t, const uint64_t&) {},
        [&t](const auto& body) {
          const std::array<uint64_t, 2> index = {1, 2};
          for_each_indirect(t.context, range(0, 2), body, read(t.elements, index));
        });
  });
  rows.add("indirect.h", "for_each_indirect", [](Trial& t) {
    use_function<uint64_t(int64_t)>(
        t, [](int64_t i) { return static_cast<uint64_t>(i); },
        [&t](const auto& element) {
          for_each_indirect(
              t.context, range(0, 2), [](int64_t, uint64_t) {}, read(t.elements, element));
        });
  });
}

void add_operators(Rows& rows) {
  const auto add = [&rows](std::string_view name, const auto& reduce) {
    rows.add_collective("team.h", name, [reduce](Trial& t) {
      use_function<uint64_t(uint64_t, uint64_t)>(
          t, [](uint64_t a, uint64_t b) { return a + b; },
          [&](const auto& op) { reduce(team::world(t.context), op); });
    });
  };
  add("reduce", [](const team& all, const auto& op) { all.reduce(uint64_t{1}, op, 0); });
  add("allreduce", [](const team& all, const auto& op) { all.allreduce(uint64_t{1}, op); });
  add("allreduce_async",
      [](const team& all, const auto& op) { all.allreduce_async(uint64_t{1}, op).wait(); });
  add("reduce_scatter", [](const team& all, const auto& op) {
    std::array<uint64_t, 1> out{};
    all.reduce_scatter(std::array<uint64_t, 2>{1, 2}, out, op);
  });
  add("inclusive_scan",
      [](const team& all, const auto& op) { all.inclusive_scan(uint64_t{1}, op); });
  add("exclusive_scan",
      [](const team& all, const auto& op) { all.exclusive_scan(uint64_t{1}, uint64_t{0}, op); });
}

// use(updates) by one worker.
template <typename Use>
void use_updates(Trial& t, const Use& use) {
  std::array<uint64_t, 4> cells{};
  thread_workers(1).run([&](worker_team& team) {
    auto made = SharedUpdates<uint64_t, op_add>::create(team, std::span<uint64_t>(cells));
    t.right(made.ok());
    use(*made);
    made->finish();
  });
}

void add_functions_of_workers(Rows& rows) {
  rows.add("worker_team.h", "thread_workers", [](Trial& t) {
    use_function<void(worker_team&)>(
        t, [](worker_team&) {}, [](const auto& body) { thread_workers(2).run(body); });
  });
  rows.add("shared_updates.h", "update_all", [](Trial& t) {
    use_function<std::pair<uint64_t, uint64_t>(uint64_t)>(
        t, [](uint64_t k) { return std::pair(k, uint64_t{2}); },
        [&t](const auto& item) {
          use_updates(t, [&item](auto& updates) { updates.update_all(3, item); });
        });
  });
  rows.add("shared_updates.h", "arrange", [](Trial& t) {
    use_function<grid_cell(const uint64_t&)>(
        t,
        [](const uint64_t& point) {
          return grid_cell{point, 0, 0};
        },
        [&t](const auto& corner_of) {
          use_updates(t, [&corner_of](auto& updates) {
            std::array<uint64_t, 2> points = {1, 0};
            updates.arrange(std::span<uint64_t>(points), corner_of, {1, 1, 1});
          });
        });
  });
}

void add_functions(Rows& rows) {
  rows.add("future.h", "then", [](Trial& t) {
    use_function<uint64_t(uint64_t)>(
        t, [](uint64_t value) { return value + 1; },
        [&t](const auto& next) {
          t.right(rget_async(t.context, there(t)).then(next).wait() == Trial::first(t.other) + 1);
        });
  });
  add_bodies_of_foralls(rows);
  add_bodies_of_loops(rows);
  add_bodies_of_gathers(rows);
  add_operators(rows);
  add_functions_of_workers(rows);
}

// A list that a call is given. zero: an empty one; nonsense: as many elements at a null pointer.
template <typename List>
std::span<const typename List::value_type> list_at(const Trial& t, const List& list) {
  if (t.kind(0) == Kind::zero) return {};
  return {t.kind(0) == Kind::nonsense ? nullptr : list.data(), list.size()};
}

void add_lists_of_futures(Rows& rows) {
  const auto add = [&rows](std::string_view name, auto wait) {
    rows.add("context.h", name, [wait](Trial& t) {
      const std::vector<future> both = {t.context.rget(there(t), t.own.data(), 1), future()};
      wait(list_at(t, both));
      wait_all(both);
      t.right(t.own[0] == Trial::first(t.other));
    });
  };
  add("wait_all", [](std::span<const future> list) { wait_all(list); });
  add("wait_any", [](std::span<const future> list) { (void)wait_any(list); });
  rows.add("future.h", "when_all", [](Trial& t) {
    const std::vector<future_of<uint64_t>> both(2, rget_async(t.context, there(t)));
    const auto list = list_at(t, both);
    const std::vector<uint64_t> values = when_all(list).wait();
    t.right(values == std::vector<uint64_t>(list.size(), Trial::first(t.other)));
  });
}

void add_lists_of_numbers(Rows& rows) {
  rows.add("indexed_list.h", "indexed_list", [](Trial& t) {
    const std::vector<uint32_t> of_list = {3, 1};
    const auto list = list_at(t, of_list);
    const indexed_list numbers(list);
    t.right(numbers.size() == list.size());
    t.right(numbers.empty() || (numbers.smallest() == 1 && numbers.largest() == 3));
  });
  rows.add("worker_team.h", "thread_workers", [](Trial& t) {
    const std::vector<uint32_t> processors = {0};
    thread_workers threads(2, list_at(t, processors));
    std::array<uint32_t, 2> of{};
    threads.run([&of](worker_team& team) { of[team.index()] = team.count(); });
    t.right(of[0] == 2 && of[1] == 2);
  });
  rows.add("nest.h", "PieceArray", [](Trial& t) {
    const std::vector<global_ptr<uint64_t>> pieces = {t.array, there(t)};
    const auto list = list_at(t, pieces);
    const PieceArray<uint64_t> parts(list);
    uint64_t sum = 0;
    const auto [r, i] = loop_indices<2>();
    for_nest(
        t.context, {list.size(), size_t{1}}, [&sum](const uint64_t& x) { sum += x; },
        read(parts[r], i));
    t.right(sum == (list.empty() ? 0 : Trial::first(t.me) + Trial::first(t.other)));
  });
  rows.add("loop.h", "loop", [](Trial& t) {
    const std::vector<LoopBlock<const uint64_t>> blocks = {{there(t), 4, nullptr}};
    size_t visits = 0;
    strip_for_blocks<uint64_t>(
        t.context, list_at(t, blocks), {}, [] {},
        [&visits](size_t, size_t begin, size_t end, const uint64_t*) { visits += end - begin; });
    t.right(visits == (t.kind(0) == Kind::zero ? 0 : 4));
  });
}

void add_values_of_updates(Rows& rows) {
  rows.add_collective("update.h", "UpdateEpoch", [](Trial& t) {
    const std::vector<uint64_t> values = {2, 2};
    UpdateEpoch<uint64_t, op_add> epoch(t.context);
    epoch.update_run(there(t), list_at(t, values));
    epoch.end();
    t.right(t.context.local(t.array)[1] >= Trial::first(t.me, 1));
    t.context.barrier();
  });
  rows.add_collective("update.h", "UpdateEpoch", [](Trial& t) {
    const std::vector<uint64_t> values = {2, 2};
    UpdateEpoch<uint64_t, op_add> epoch(t.context);
    epoch.into(t.elements).update_run(3, list_at(t, values));
    epoch.end();
    t.right(t.elements.read(4) >= Trial::first(0, 4));
    t.context.barrier();
  });
}

constexpr std::array<uint64_t, 2> kIndex = {1, 2};

void add_indices(Rows& rows) {
  rows.add_collective("gather_plan.h", "GatherPlan", [](Trial& t) {
    const auto index = list_at(t, kIndex);
    const auto made = GatherPlan<uint64_t>::create(t.elements, index);
    if (!made.ok()) return t.refused(made.error());
    t.right(made->size() == index.size());
  });
  rows.add_collective("cached_gather.h", "CachedGather", [](Trial& t) {
    const auto index = list_at(t, kIndex);
    CachedGather<uint64_t> kept;
    if (const Status s = kept.gather(t.elements, index); !s.ok()) return t.refused(s.error());
    t.right(kept.size() == index.size());
  });
  rows.add_collective("gather.h", "gather", [](Trial& t) {
    const auto index = list_at(t, kIndex);
    t.right(gather(t.elements, index).size() == index.size());
  });
  rows.add("indirect.h", "for_each_indirect", [](Trial& t) {
    const auto index = list_at(t, kIndex);
    size_t visits = 0;
    for_each_indirect(
        t.context, range(0, static_cast<int64_t>(index.size())),
        [&visits](int64_t, uint64_t) { ++visits; }, read(t.elements, index));
    t.right(visits == index.size());
  });
  // Arrays of a gather, of which there are as many as the plan was made for.
  rows.add_collective("gather_plan.h", "GatherPlan", [](Trial& t) {
    auto made = GatherPlan<uint64_t>::create(t.elements, std::vector<uint64_t>{1});
    if (!made.ok()) return t.refused(made.error());
    const std::vector<const shared_array<uint64_t>*> arrays = {&t.elements};
    made->start(list_at(t, arrays));
    made->wait();
    t.right(t.kind(0) == Kind::usual && (*made)[0] == Trial::first(0, 1));
  });
}

// Three lists that make a matrix of two rows, of which one is at a null pointer if that is asked
// for. zero: a matrix without rows.
void add_matrices(Rows& rows) {
  for (size_t wrong = 0; wrong < 3; ++wrong) {
    rows.add_collective("sparse_matrix.h", "SparseMatrix", [wrong](Trial& t) {
      const bool has_rows = t.kind(0) != Kind::zero;
      const std::vector<size_t> begin = {0, 1, 2};
      const std::vector<uint64_t> columns = {0, 7};
      const std::vector<uint64_t> values = {2, 3};
      const auto part = [&](size_t number, const auto& list, size_t count) {
        const bool lacks = t.kind(0) == Kind::nonsense && number == wrong;
        return std::span(lacks ? nullptr : list.data(), count);
      };
      const auto made = SparseMatrix<uint64_t>::create(t.elements, part(0, begin, has_rows ? 3 : 1),
                                                       part(1, columns, has_rows ? 2 : 0),
                                                       part(2, values, has_rows ? 2 : 0));
      if (!made.ok()) return t.refused(made.error());
      t.right(made->rows() == (has_rows ? 2 : 0));
    });
  }
  rows.add_collective("sparse_matrix.h", "SparseMatrix", [](Trial& t) {
    const size_t count = t.kind(0) == Kind::zero ? 0 : 1;
    const std::vector<size_t> begin = {0, 1};
    const std::vector<uint64_t> ones = {1};
    auto made =
        SparseMatrix<uint64_t>::create(t.elements, std::span(begin).first(count + 1),
                                       std::span(ones).first(count), std::span(ones).first(count));
    if (!made.ok()) return t.refused(made.error());
    std::array<uint64_t, 1> y{};
    made->multiply(t.elements, {t.kind(0) == Kind::nonsense ? nullptr : y.data(), count});
    t.right(y[0] == (count == 0 ? 0 : Trial::first(0, 1)));
  });
}

// Collective operations on blocks of one element of each rank. zero: the list names no blocks.
void add_blocks(Rows& rows) {
  using Sizes = std::span<const size_t>;
  using Make = void (*)(const team& all, std::span<uint64_t> in, std::span<uint64_t> out,
                        Sizes counts, Sizes offsets);
  const auto add = [&rows](std::string_view name, Make make) {
    rows.add_collective("team.h", name, [make](Trial& t) {
      std::array<uint64_t, 2> in = {10 + uint64_t{t.me}, 20 + uint64_t{t.me}};
      std::array<uint64_t, 2> out{};
      const std::vector<size_t> counts = {1, 1};
      const std::vector<size_t> offsets = {0, 1};
      make(team::world(t.context), in, out, list_at(t, counts), offsets);
      // Only rank 0, as the root, may look at the list.
      t.right(t.me != 0 || (t.kind(0) == Kind::usual && out[0] == 10));
    });
  };
  add("gather_v", [](const team& all, std::span<uint64_t> in, std::span<uint64_t> out, Sizes counts,
                     Sizes offsets) { all.gather_v(in.first(1), out, counts, offsets, 0); });
  add("scatter_v",
      [](const team& all, std::span<uint64_t> in, std::span<uint64_t> out, Sizes counts,
         Sizes offsets) { all.scatter_v(in, counts, offsets, out.first(1), 0); });
  add("allgather_v",
      [](const team& all, std::span<uint64_t> in, std::span<uint64_t> out, Sizes counts,
         Sizes offsets) { all.allgather_v(in.first(1), out, counts, offsets); });
  add("all_to_all_v",
      [](const team& all, std::span<uint64_t> in, std::span<uint64_t> out, Sizes counts,
         Sizes offsets) { all.all_to_all_v(in, counts, offsets, out, counts, offsets); });
}

void add_texts(Rows& rows) {
  rows.add_collective("rpc.h", "rpc", [](Trial& t) {
    const char* const text = t.kind(0) == Kind::usual  ? "text"
                             : t.kind(0) == Kind::zero ? ""
                                                       : nullptr;
    if (t.me == 0) {
      const auto size = rpc(
          t.context, 1, [](const std::string& came) { return came.size(); }, text);
      t.right(size.wait() == (t.kind(0) == Kind::zero ? 0 : 4));
    }
    t.context.am_quiesce();
  });
}

}  // namespace

void add_null_calls(std::vector<Call>& calls) {
  Rows rows(calls);
  add_functions(rows);
  add_lists_of_futures(rows);
  add_lists_of_numbers(rows);
  add_values_of_updates(rows);
  add_indices(rows);
  add_matrices(rows);
  add_blocks(rows);
  add_texts(rows);
}

}  // namespace stripline::edges
