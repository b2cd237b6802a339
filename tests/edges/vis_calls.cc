// Calls of vis.h and indexed_list.h.
#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stripline/indexed_list.h>
#include <stripline/vis.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

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

// The forms with numbers of dimensions that are known when the program runs, and with pointers.
void add_forms_of_strides(std::vector<Call>& calls) {
  // usual: elements side by side; zero: no dimension, which is one element; nonsense: a list of
  // strides that is too short.
  calls.push_back({"vis.h", "rget_strided", false, {memory, option}, [](Trial& t) {
                     const std::span<const std::ptrdiff_t> strides(kNear);
                     const std::array<size_t, 1> extents = {Trial::kCount};
                     const size_t n = t.kind(1) == Kind::zero ? 0 : 1;
                     rget_strided(t.context, t.context.on_rank(t.array, t.other),
                                  strides.first(t.kind(1) == Kind::nonsense ? 0 : n), t.memory(0),
                                  strides.first(n), std::span(extents).first(n))
                         .wait();
                     for (size_t i = 0; i < (n == 0 ? 1 : Trial::kCount); ++i) {
                       t.right(t.own[i] == Trial::first(t.other, i));
                     }
                   }});
  calls.push_back({"vis.h", "rput_strided", false, {memory, option}, [](Trial& t) {
                     const std::span<const std::ptrdiff_t> strides(kNear);
                     const std::array<size_t, 1> extents = {Trial::kCount};
                     const size_t n = t.kind(1) == Kind::zero ? 0 : 1;
                     const global_ptr<uint64_t> there = t.context.on_rank(t.array, t.other);
                     const uint64_t* const from = t.memory(0);
                     rput_strided(t.context, from,
                                  strides.first(t.kind(1) == Kind::nonsense ? 0 : n), there,
                                  strides.first(n), std::span(extents).first(n))
                         .wait();
                     t.right(t.context.rget(there) == from[0]);
                   }});
  calls.push_back({"vis.h", "rput_strided_signal", false, {place, count}, [](Trial& t) {
                     const std::array<size_t, 2> extents = {1, t.count(1)};
                     const std::array<std::ptrdiff_t, 2> strides = {64, 8};
                     const auto flag = flag_of(t, t.place(0));
                     rput_strided_signal<2>(t.context, std::as_const(t.own).data(), strides.data(),
                                            t.place(0), strides.data(), extents.data(), flag, 9)
                         .wait();
                     t.right(t.context.rget(flag) == 9);
                   }});
  calls.push_back(
      {"vis.h", "rput_regular_signal", false, {memory, place, count, place}, [](Trial& t) {
         const std::vector<const uint64_t*> from = {t.memory(0)};
         const std::vector<global_ptr<uint64_t>> to = {t.place(1)};
         const auto flag = t.kind(3) == Kind::usual ? flag_of(t, to[0]) : t.place(3);
         rput_regular_signal(t.context, from.begin(), from.end(), t.count(2), to.begin(), to.end(),
                             t.count(2), flag, 9)
             .wait();
         t.right(t.context.rget(flag) == 9);
       }});
}

void add_lists(std::vector<Call>& calls) {
  // An empty list has neither a smallest nor a largest number.
  calls.push_back({"indexed_list.h",
                   "indexed_list",
                   false,
                   {length, element},
                   [](Trial& t) {
                     const indexed_list numbers = list_of(t, 0, 1);
                     const indexed_list all = indexed_list::in_order(t.count(0));
                     t.right(numbers.size() == t.count(0) && all.size() == t.count(0));
                     t.right(numbers.empty() == all.empty() && all.numbers().empty());
                     t.right(all.runs() == (all.empty() ? 0U : 1U));
                     if (all.empty()) return;
                     t.right(all.smallest() == 0 && all.largest() == t.count(0) - 1);
                     t.right(numbers.smallest() == 0);
                     t.right(numbers.largest() == *std::ranges::max_element(numbers.numbers()));
                   },
                   {Kind::beyond, Kind::nonsense}});
}

}  // namespace

void add_vis_calls(std::vector<Call>& calls) {
  add_many_regions(calls);
  add_indexed(calls);
  add_forms_of_strides(calls);
  add_lists(calls);
}

}  // namespace stripline::edges
