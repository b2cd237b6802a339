// Calls of update.h, gather.h, gather_plan.h, cached_gather.h, indirect.h, sparse_matrix.h, loop.h,
// nest.h, nest_template.h and wavefront.h.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stripline/cached_gather.h>
#include <stripline/gather.h>
#include <stripline/gather_plan.h>
#include <stripline/indirect.h>
#include <stripline/loop.h>
#include <stripline/nest.h>
#include <stripline/nest_template.h>
#include <stripline/sparse_matrix.h>
#include <stripline/update.h>
#include <stripline/wavefront.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

void add_updates(std::vector<Call>& calls) {
  calls.push_back({"update.h", "UpdateEpoch", true, {place, option}, [](Trial& t) {
                     const bool touched = t.kind(0) == Kind::usual || t.kind(0) == Kind::largest ||
                                          t.kind(0) == Kind::zero;
                     {
                       UpdateEpoch<uint64_t, op_add> epoch(t.context,
                                                           {.mode = t.option<UpdateMode>(1)});
                       epoch.update(t.place(0), 5);
                       epoch.flush();
                       epoch.update(t.place(0), 5);
                       epoch.end();
                       epoch.end();
                     }
                     if (touched) {
                       const uint64_t first = t.value_at(0, 0);
                       t.right(t.context.rget(t.place(0)) % 10 == first % 10);
                       t.right(t.context.rget(t.place(0)) >= first + 10);
                     }
                     t.context.barrier();
                   }});
  calls.push_back({"update.h", "UpdateEpoch", true, {place, memory}, [](Trial& t) {
                     UpdateEpoch<uint64_t, op_bit_or> epoch(t.context);
                     const future fetched = epoch.fetch(t.place(0), 0, t.memory(1));
                     fetched.wait();
                     t.right(t.own[0] == t.value_at(0, 0));
                     t.right(epoch.fetch_async(t.place(0), 0).wait() == t.value_at(0, 0));
                     epoch.end();
                     t.own[0] = 5000;
                   }});
  calls.push_back(
      {"update.h", "UpdateEpoch", true, {array, element, memory}, [](Trial& t) {
         {
           UpdateEpoch<uint64_t, op_add> epoch(t.context);
           const auto cells = epoch.into(t.handle(0));
           cells.update(t.element(1), 5);
           cells.update_run(t.element(1), std::array<uint64_t, 1>{2});
           cells.spread({1, 1, Trial::kElements}, {0, 0, t.element(1)}, {1, 1, 1}, t.memory(2));
         }
         t.right(t.elements.read(t.element(1)) >= Trial::first(0, t.element(1)) + 5007);
         t.context.barrier();
       }});
  calls.push_back({"update.h",
                   "UpdateEpoch",
                   true,
                   {count, count, option},
                   [](Trial& t) {
                     UpdateOptions options;
                     options.budget_bytes =
                         t.kind(0) == Kind::usual ? options.budget_bytes : t.count(0);
                     options.settings.buffer_bytes = t.kind(1) == Kind::usual ? 0 : t.count(1);
                     options.settings.hops = t.kind(2) == Kind::nonsense ? 9 : 0;
                     UpdateEpoch<uint64_t, op_add> epoch(t.context, options);
                     epoch.update(t.context.on_rank(t.array, t.other), 1);
                     epoch.end();
                     t.right(t.context.local(t.array)[0] > Trial::first(t.me));
                   },
                   {Kind::beyond, Kind::nonsense, Kind::largest}});
}

const std::vector<uint64_t>& index_of(Trial& t, size_t element_argument) {
  static thread_local std::vector<uint64_t> index;
  index = {t.element(element_argument), 0, t.element(element_argument)};
  return index;
}

void add_gathers(std::vector<Call>& calls) {
  calls.push_back({"gather_plan.h", "GatherPlan", true, {array, element}, [](Trial& t) {
                     const auto x = t.handle(0);
                     const std::vector<uint64_t> index = index_of(t, 1);
                     auto made = GatherPlan<uint64_t>::create(x, index);
                     if (!made.ok()) return t.refused(made.error());
                     made->wait();
                     made->for_each(x, [&](size_t i, uint64_t value) {
                       t.right(value == Trial::first(0, index[i]));
                     });
                     t.right((*made)[1] == Trial::first(0) && made->size() == 3);
                   }});
  calls.push_back(
      {"gather_plan.h", "GatherPlan", true, {option, array}, [](Trial& t) {
         const std::vector<uint64_t> index = {1, 2};
         GatherOptions options;
         options.vectors = t.kind(0) == Kind::usual ? 2 : t.kind(0) == Kind::zero ? 0 : 200;
         auto made = GatherPlan<uint64_t>::create(t.elements, index, options);
         if (!made.ok()) return t.refused(made.error());
         const auto other = t.handle(1);
         made->start(std::array<const shared_array<uint64_t>*, 2>{&t.elements, &other});
         made->wait();
         t.right(made->value(1, 1) == Trial::first(0, 2));
       }});
  // zero: no arrays; nonsense: a null pointer instead of the second one.
  calls.push_back({"gather_plan.h", "GatherPlan", true, {array, array, option}, [](Trial& t) {
                     const std::vector<uint64_t> index = {1, 2};
                     auto made = GatherPlan<uint64_t>::create(t.elements, index, {.vectors = 2});
                     if (!made.ok()) return t.refused(made.error());
                     const std::array<shared_array<uint64_t>, 2> of = {t.handle(0), t.handle(1)};
                     std::vector<const shared_array<uint64_t>*> arrays;
                     if (t.kind(2) != Kind::zero) arrays = {&of[0], &of[1]};
                     if (t.kind(2) == Kind::nonsense) arrays[1] = nullptr;
                     size_t visits = 0;
                     made->for_each(arrays, [&](size_t i, const gathered_values<uint64_t>& values) {
                       ++visits;
                       t.right(values[0] == Trial::first(0, index[i]) && values[1] == values[0]);
                     });
                     t.right(visits == index.size());
                   }});
  calls.push_back({"gather_plan.h", "GatherPlan", true, {option}, [](Trial& t) {
                     const std::vector<uint64_t> index = {1, 2};
                     auto made = GatherPlan<uint64_t>::create(t.elements, index);
                     if (!made.ok()) return t.refused(made.error());
                     made->start(t.elements);
                     if (t.kind(0) == Kind::nonsense) made->start(t.elements);  // a second gather
                     if (t.kind(0) == Kind::zero) {
                       auto moved = std::move(*made);
                       moved.wait();
                       t.right(moved[1] == Trial::first(0, 2));
                       return;
                     }
                     made->wait();
                     t.right((*made)[0] == Trial::first(0, 1) && t.kind(0) != Kind::nonsense);
                   }});
  // The entry of the index whose value is read.
  calls.push_back({"gather_plan.h", "GatherPlan", true, {element}, [](Trial& t) {
                     std::vector<uint64_t> index(Trial::kElements);
                     std::iota(index.begin(), index.end(), uint64_t{0});
                     auto made = GatherPlan<uint64_t>::create(t.elements, index);
                     if (!made.ok()) return t.refused(made.error());
                     made->start(t.elements);
                     made->wait();
                     t.right((*made)[t.element(0)] == Trial::first(0, t.element(0)));
                     t.right(made->value(0, t.element(0)) == Trial::first(0, t.element(0)));
                   }});
  calls.push_back({"cached_gather.h", "GatherPlan", true, {element}, [](Trial& t) {
                     CachedGather<uint64_t> kept;
                     kept.release();
                     t.right(kept.size() == 0);
                     const std::vector<uint64_t> index = index_of(t, 0);
                     if (const Status s = kept.gather(t.elements, index); !s.ok())
                       return t.refused(s.error());
                     t.right(kept[0] == Trial::first(0, t.element(0)));
                     if (const Status s = kept.gather(t.elements, index, 7); !s.ok())
                       return t.refused(s.error());
                     t.right(kept[1] == Trial::first(0) && kept.gathers() == 2);
                   }});
  calls.push_back({"cached_gather.h", "CachedGather", true, {array}, [](Trial& t) {
                     CachedGather<uint64_t> kept;
                     const std::vector<uint64_t> index = {3};
                     if (const Status s = kept.gather(t.handle(0), index); !s.ok())
                       return t.refused(s.error());
                     t.right(kept[0] == Trial::first(0, 3));
                   }});
  calls.push_back({"gather.h", "gather", true, {array, element}, [](Trial& t) {
                     const std::vector<uint64_t> index = index_of(t, 1);
                     const auto values = gather(t.handle(0), index);
                     t.right(values.size() == 3 && values[2] == Trial::first(0, t.element(1)));
                   }});
  calls.push_back(
      {"gather.h", "gather", true, {option}, [](Trial& t) {
         const std::vector<uint64_t> index = {1, 2};
         GatherOptions options;
         options.vectors = t.kind(0) == Kind::usual ? 1 : t.kind(0) == Kind::zero ? 0 : 200;
         t.right(gather(t.elements, index, options)[1] == Trial::first(0, 2));
       }});
  // Two arrays by the same line, which is one place. nonsense: values are read that the second
  // gather has replaced, which debug mode finds.
  calls.push_back({"gather.h",
                   "gather",
                   true,
                   {array, option},
                   [](Trial& t) {
                     const std::vector<uint64_t> index = {3};
                     const auto of = [&index](const auto& x) { return gather(x, index); };
                     const gathered<uint64_t> first = of(t.handle(0));
                     t.right(first[0] == Trial::first(0, 3));
                     const gathered<uint64_t> second = of(t.elements);
                     t.right((t.kind(1) == Kind::nonsense ? first : second)[0] ==
                             Trial::first(0, 3));
                   },
                   {Kind::nonsense}});
  calls.push_back({"indirect.h", "for_each_indirect", true, {array, element}, [](Trial& t) {
                     const std::vector<uint64_t> index = index_of(t, 1);
                     uint64_t sum = 0;
                     for_each_indirect(
                         t.context, range(0, 3), [&](int64_t, uint64_t x) { sum += x; },
                         read(t.handle(0), index));
                     t.right(sum == 2 * Trial::first(0, t.element(1)) + Trial::first(0));
                   }});
  calls.push_back({"indirect.h", "for_each_indirect", true, {array, count}, [](Trial& t) {
                     // More iterations than the index has entries.
                     const std::vector<uint64_t> index = {1, 2, 3, 4, 5, 6, 7, 8};
                     uint64_t sum = 0;
                     for_each_indirect(
                         t.context, range(0, static_cast<int64_t>(t.count(1))),
                         [&](int64_t, uint64_t x) { sum += x; }, read(t.handle(0), index));
                     t.right(t.count(1) == 0 || sum > Trial::first(0));
                   }});
  calls.push_back(
      {"sparse_matrix.h",
       "SparseMatrix",
       true,
       {array, element},
       [](Trial& t) {
         const std::vector<double> values = {2, 3};
         auto x = shared_array<double>::create(t.context, 8);
         if (!x.ok()) return t.refused(x.error());
         for (double& mine : x->local_span()) mine = 1;
         const auto vector = t.kind(0) == Kind::null ? shared_array<double>() : *x;
         const std::vector<size_t> begin = {0, 1, t.kind(1) == Kind::usual ? 2 : t.element(1)};
         const std::vector<uint64_t> columns = {0, t.kind(1) == Kind::usual ? 7 : t.element(1)};
         auto made = SparseMatrix<double>::create(vector, begin, columns, values);
         if (!made.ok()) return t.refused(made.error());
         std::array<double, 2> y{};
         made->multiply(*x, y);
         t.right(y[0] == 2 && y[1] == 3);
       },
       {Kind::largest}});
  calls.push_back({"sparse_matrix.h", "SparseMatrix", true, {option}, [](Trial& t) {
                     auto x = shared_array<double>::create(t.context, 8);
                     if (!x.ok()) return t.refused(x.error());
                     for (double& mine : x->local_span()) mine = 1;
                     const std::vector<double> values = {2, 3};
                     const std::vector<size_t> begin = {0, 1, 2};
                     const std::vector<uint64_t> columns = {0, 7};
                     auto made = SparseMatrix<double>::create(*x, begin, columns, values);
                     if (!made.ok()) return t.refused(made.error());
                     std::array<double, 2> y{};
                     // Unless usual, the result has room for fewer rows than the matrix has.
                     made->multiply(*x, std::span(y).first(t.kind(0) == Kind::usual  ? 2
                                                           : t.kind(0) == Kind::zero ? 0
                                                                                     : 1));
                     t.right(y[1] == 3);
                   }});
}

void add_loops(std::vector<Call>& calls) {
  calls.push_back({"loop.h", "loop", false, {place, count}, [](Trial& t) {
                     uint64_t sum = 0;
                     uint64_t expected = 0;
                     strip_for(t.context, t.place(0), t.count(1), {},
                               [&](size_t begin, size_t end, const uint64_t* strip) {
                                 for (size_t i = 0; i < end - begin; ++i) sum += strip[i];
                               });
                     for (size_t i = 0; i < t.count(1); ++i) expected += t.value_at(0, i);
                     t.right(sum == expected);
                   }});
  calls.push_back({"loop.h",
                   "loop",
                   false,
                   {place, count, count},
                   [](Trial& t) {
                     LoopOptions options;
                     options.granule = t.kind(2) == Kind::usual ? 1 : t.count(2);
                     options.max_buffer_bytes =
                         t.kind(2) == Kind::usual ? options.max_buffer_bytes : t.count(2);
                     strip_write(t.context, t.place(0), t.count(1), options,
                                 [&](size_t begin, size_t end, uint64_t* strip) {
                                   for (size_t i = begin; i < end; ++i) strip[i - begin] = 100 + i;
                                 });
                     t.right(t.count(1) == 0 || t.context.rget(t.place(0)) == 100);
                   },
                   {Kind::beyond, Kind::nonsense}});
  calls.push_back({"loop.h",
                   "loop",
                   false,
                   {place, count, memory},
                   [](Trial& t) {
                     // The first block has a place of the program, unless that is null.
                     const std::array<LoopBlock<const uint64_t>, 2> blocks = {
                         {{t.place(0), t.count(1), t.memory(2)},
                          {t.context.on_rank(t.array, t.other), 2, nullptr}}};
                     uint64_t sum = 0;
                     strip_for_blocks<uint64_t>(
                         t.context, blocks, {}, [] {},
                         [&](size_t, size_t begin, size_t end, const uint64_t* strip) {
                           for (size_t i = 0; i < end - begin; ++i) sum += strip[i];
                         });
                     uint64_t expected = Trial::first(t.other, 0) + Trial::first(t.other, 1);
                     for (size_t i = 0; i < t.count(1); ++i) expected += t.value_at(0, i);
                     t.right(sum == expected);
                   },
                   {Kind::null}});
  // usual: a piece for each iteration of the outer loop; zero: neither; nonsense: too few pieces.
  calls.push_back(
      {"nest.h", "for_nest", false, {place, option}, [](Trial& t) {
         const std::array<global_ptr<uint64_t>, 2> pieces = {t.array, t.place(0)};
         const size_t used = t.kind(1) == Kind::zero ? 0 : 2;
         const std::span<const global_ptr<uint64_t>> given(pieces);
         const PieceArray<uint64_t> parts{given.first(t.kind(1) == Kind::nonsense ? 1 : used)};
         uint64_t sum = 0;
         const auto [r, i] = loop_indices<2>();
         for_nest(
             t.context, {used, size_t{4}}, [&](const uint64_t& x) { sum += x; }, read(parts[r], i));
         uint64_t expected = 0;
         for (size_t k = 0; used > 0 && k < 4; ++k) {
           expected += Trial::first(t.me, k) + t.value_at(0, k);
         }
         t.right(sum == expected);
       }});
  calls.push_back({"nest.h", "for_nest", false, {place, count}, [](Trial& t) {
                     uint64_t sum = 0;
                     const auto [i] = loop_indices<1>();
                     for_nest(
                         t.context, {t.count(1)}, [&](const uint64_t& x) { sum += x; },
                         read(t.place(0), i));
                     t.right(t.count(1) == 0 || sum >= Trial::first(0));
                   }});
  calls.push_back(
      {"nest_template.h", "NestTemplate", false, {place, count, option}, [](Trial& t) {
         const auto n = t.kind(1) == Kind::beyond || t.kind(1) == Kind::nonsense
                            ? int64_t{1} << 50
                            : static_cast<int64_t>(t.count(1));
         uint64_t sum = 0;
         NestTemplate nest(t.context);
         const size_t i = nest.add_loop(0, n, t.kind(2) == Kind::zero ? 0 : 1);
         const size_t a =
             nest.add_reference(access::Mode::read, t.place(0).where(), t.place(0).offset(), 8);
         nest.set_stride(t.kind(2) == Kind::nonsense ? 5 : a, i, 8);
         while (nest.next()) {
           for (int64_t s = 0; s < nest.count(i); ++s) {
             uint64_t element = 0;  // which may be misaligned
             std::memcpy(&element, nest.address(a) + s * nest.stride_bytes(a, i), sizeof element);
             sum += element;
           }
         }
         uint64_t expected = 0;
         for (size_t k = 0; k < static_cast<size_t>(n); ++k) expected += t.value_at(0, k);
         t.right(sum == expected);
       }});
  calls.push_back({"wavefront.h", "Wavefront", true, {count, option}, [](Trial& t) {
                     auto made = Wavefront::create(t.context, t.kind(1) == Kind::zero ? 0 : 1,
                                                   {.stages = Trial::kRanks, .all_busy = false});
                     if (!made.ok()) return t.refused(made.error());
                     std::array<uint64_t, Trial::kLargestCount> left{};
                     Wavefront::Stage<uint64_t> stage;
                     stage.lines = t.kind(0) == Kind::beyond || t.kind(0) == Kind::nonsense
                                       ? size_t{1} << 61
                                       : t.count(0);
                     if (t.me > 0) stage.comes = t.kind(1) == Kind::nonsense ? 5 : 0;
                     if (t.me + 1 < Trial::kRanks) {
                       stage.leaves = t.kind(1) == Kind::nonsense ? 5 : 0;
                       stage.width = 1;
                       stage.results = left.data();
                       stage.place = t.context.on_rank(t.array, t.me + 1);
                     }
                     made->run(stage, [&](size_t begin, size_t end) {
                       for (size_t i = begin; i < end && i < left.size(); ++i) left[i] = 77;
                     });
                     made->finish();
                     t.right(t.me == 0 || stage.lines == 0 || t.context.local(t.array)[0] == 77);
                   }});
}

}  // namespace

void add_mechanism_calls(std::vector<Call>& calls) {
  add_updates(calls);
  add_gathers(calls);
  add_loops(calls);
}

}  // namespace stripline::edges
