// Calls of gather.h, gather_plan.h, cached_gather.h, sparse_matrix.h and indirect.h with options,
// several arrays and members, and what they have gathered.
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stripline/cached_gather.h>
#include <stripline/gather.h>
#include <stripline/gather_plan.h>
#include <stripline/indirect.h>
#include <stripline/sparse_matrix.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

std::vector<uint64_t> all_elements() {
  std::vector<uint64_t> index(Trial::kElements);
  std::iota(index.begin(), index.end(), uint64_t{0});
  return index;
}

void add_options_of_gathers(std::vector<Call>& calls) {
  calls.push_back({"gather_plan.h", "GatherPlan", true, {option, option}, [](Trial& t) {
                     const std::vector<uint64_t> index = {1, 2, 2};
                     GatherOptions options;
                     options.method = t.option<GatherMethod>(0);
                     options.order = t.option<GatherOrder>(1);
                     auto made = GatherPlan<uint64_t>::create(t.elements, index, options);
                     if (!made.ok()) return t.refused(made.error());
                     t.right(made->statistics().reads == index.size());
                     size_t visits = 0;
                     made->for_each(t.elements, [&](size_t i, uint64_t value) {
                       ++visits;
                       t.right(value == Trial::first(0, index[i]));
                     });
                     t.right(visits == index.size());
                   }});
  // With two vectors at a time. zero: with one of them; nonsense: into a result of too few rows.
  calls.push_back({"sparse_matrix.h", "SparseMatrix", true, {array, option}, [](Trial& t) {
                     GatherOptions options;
                     options.vectors = 2;
                     auto made = SparseMatrix<uint64_t>::create(
                         t.elements, std::vector<size_t>{0, 1, 2}, std::vector<uint64_t>{0, 7},
                         std::vector<uint64_t>{2, 3}, options);
                     if (!made.ok()) return t.refused(made.error());
                     const auto second = t.handle(0);
                     std::vector<const shared_array<uint64_t>*> vectors = {&t.elements, &second};
                     if (t.kind(1) == Kind::zero) vectors.pop_back();
                     std::array<uint64_t, 4> y{};
                     made->multiply(vectors,
                                    std::span(y).first(t.kind(1) == Kind::nonsense ? 3 : 4));
                     t.right(y[0] == 2 * Trial::first(0, 0) && y[1] == y[0]);
                     t.right(y[2] == 3 * Trial::first(0, 7) && y[3] == y[2]);
                     t.right(made->rows() == 2 && made->statistics().reads == 2);
                   }});
}

// The entry of the index whose value is read.
void add_values_of_gathers(std::vector<Call>& calls) {
  calls.push_back({"cached_gather.h", "GatherPlan", true, {element}, [](Trial& t) {
                     const std::vector<uint64_t> index = all_elements();
                     CachedGather<uint64_t> kept;
                     if (const Status s = kept.gather(t.elements, index); !s.ok())
                       return t.refused(s.error());
                     t.right(kept[t.element(0)] == Trial::first(0, t.element(0)));
                     t.right(kept.statistics().reads == index.size() && kept.inspections() == 1);
                   }});
  // zero: what was counted before anything was gathered; nonsense: a value.
  calls.push_back({"cached_gather.h", "CachedGather", false, {option}, [](Trial& t) {
                     CachedGather<uint64_t> kept;
                     t.right(kept.inspections() == 0 && kept.gathers() == 0);
                     if (t.kind(0) == Kind::zero) t.right(kept.statistics().reads > 0);
                     if (t.kind(0) == Kind::nonsense) t.right(kept[0] == 0);
                     t.right(t.kind(0) == Kind::usual);
                   }});
  // By one place and of one version, which is inspected once.
  calls.push_back({"gather.h", "GatherPlan", true, {element}, [](Trial& t) {
                     const std::vector<uint64_t> index = all_elements();
                     const auto again = [&] { return gather(t.elements, index, uint64_t{7}); };
                     again();
                     const gathered<uint64_t> values = again();
                     t.right(values[t.element(0)] == Trial::first(0, t.element(0)));
                     t.right(values.size() == index.size() && values.inspections() == 1);
                     t.right(values.statistics().reads == index.size());
                   }});
}

struct Particle {
  uint64_t number;
  double mass;
  uint64_t charge;
};

void add_indirect_loops(std::vector<Call>& calls) {
  calls.push_back(
      {"indirect.h", "for_each_indirect", false, {array, element}, [](Trial& t) {
         const uint64_t element = t.element(1);
         const std::array<uint64_t, 3> index = {element, 0, element};
         for_each_indirect(
             t.context, range(0, 3), [](int64_t, uint64_t& x) { ++x; }, modify(t.handle(0), index));
         t.right(t.elements.read(element) == Trial::first(0, element) + (element == 0 ? 3 : 2));
         t.elements.write(0, Trial::first(0));
         t.elements.write(element, Trial::first(0, element));
       }});
  // zero: a step of 0; nonsense: away from the end, which is no iteration.
  calls.push_back(
      {"indirect.h",
       "for_each_indirect",
       false,
       {option},
       [](Trial& t) {
         const int64_t step = t.kind(0) == Kind::usual ? 1 : t.kind(0) == Kind::zero ? 0 : -1;
         const std::array<uint64_t, 3> index = {1, 2, 3};
         uint64_t sum = 0;
         for_each_indirect(
             t.context, range(0, 3, step), [&](int64_t, uint64_t x) { sum += x; },
             read(t.elements, index));
         t.right(sum == (t.kind(0) == Kind::usual ? 3 * Trial::first(0, 2) : 0));
       },
       {Kind::nonsense}});
  // Two members of structs, by a function, in blocks of this length. zero: in any order; nonsense:
  // the function names elements that there are not.
  calls.push_back({"indirect.h",
                   "for_each_indirect",
                   true,
                   {count, option},
                   [](Trial& t) {
                     auto made = shared_array<Particle>::create(t.context, 8);
                     if (!made.ok()) return t.refused(made.error());
                     for (size_t i = 0; i < made->local_span().size(); ++i) {
                       const uint64_t number = made->index_of(i);
                       made->local_span()[i] = {number, 1, 10 * number};
                     }
                     t.context.barrier();
                     IndirectOptions options;
                     options.any_order = t.kind(1) == Kind::zero;
                     options.block = t.count(0);
                     const int64_t first = t.kind(1) == Kind::nonsense ? 100 : 1;
                     uint64_t sum = 0;
                     for_each_indirect(
                         t.context, range(0, 4), options,
                         [&](int64_t, const uint64_t& number, const uint64_t& charge) {
                           sum += number + charge;
                         },
                         read(
                             *made, [first](int64_t i) { return first + 2 * i; }, &Particle::number,
                             &Particle::charge));
                     t.right(sum == 11 * (1 + 3 + 5 + 7));
                     t.context.barrier();
                     made->destroy();
                   },
                   {Kind::beyond, Kind::nonsense}});
}

}  // namespace

void add_gather_calls(std::vector<Call>& calls) {
  add_options_of_gathers(calls);
  add_values_of_gathers(calls);
  add_indirect_loops(calls);
}

}  // namespace stripline::edges
