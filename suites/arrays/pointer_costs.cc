#include "suites/arrays/pointer_costs.h"

#include <cstdint>
#include <utility>

#include <stripline/pointer_to_shared.h>
#include <stripline/shared_array.h>

namespace stripline::suites::arrays {
namespace {

/// The value may be any from here on, as far as the compiler knows. By its address: an aggregate as
/// an operand would be copied.
template <typename T>
void forget(T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

constexpr uint64_t kBlock = 64;
constexpr uint64_t kMiddle = 1000;  // both directions are possible
// Within a block of 64 from element 1000 on, and to the next but one.
constexpr std::ptrdiff_t kNear = 3;
constexpr std::ptrdiff_t kFar = 100;

/// There and back, so that it stays within the array.
template <typename Pointer, typename Step>
bool walk(Pointer start, std::ptrdiff_t distance, Step step) {
  Pointer p = start;
  forget(p);
  for (int i = 0; i < kOperationsPerBatch; ++i) {
    forget(distance);
    step(p, distance);
    forget(p);
    distance = -distance;
  }
  static_assert(kOperationsPerBatch % 2 == 0);
  return p == start;
}

const char* const kPlain = "plain pointer";
const char* const kStaticTwo = "2 ranks, static";
const char* const kStaticThree = "3 ranks, static";
const char* const kDynamic = "2 ranks, dynamic";

template <pointer_form Form, typename Layout, typename Ranks>
Operation walk_through(std::string row, const char* ranks_text, const Layout& layout,
                       const Ranks& ranks, std::ptrdiff_t distance) {
  const std::string form = Form == pointer_form::packed ? "packed" : "wide";
  return {std::move(row), form + ", " + ranks_text, [layout, ranks, distance] {
            using Pointer = pointer_to_shared<double, Layout, Ranks, Form>;
            distribution<Layout, Ranks> elements{layout, ranks};
            forget(elements);  // only what is static is known
            const Pointer start(elements, 64, elements.locate(kMiddle));
            return walk(start, distance, [&elements](Pointer& p, std::ptrdiff_t n) {
              if constexpr (Form == pointer_form::wide) {
                p += n;
              } else {
                p = advance(p, n, elements);
              }
            });
          }};
}

template <typename Layout>
void add_layout(std::vector<Operation>& all, const std::string& row, const Layout& layout,
                std::ptrdiff_t distance) {
  constexpr auto packed = pointer_form::packed;
  constexpr auto wide = pointer_form::wide;
  const static_ranks<2> two;
  const static_ranks<3> three;
  const dynamic_ranks any{2};
  all.push_back(walk_through<packed>(row, kStaticTwo, layout, two, distance));
  all.push_back(walk_through<packed>(row, kStaticThree, layout, three, distance));
  all.push_back(walk_through<packed>(row, kDynamic, layout, any, distance));
  all.push_back(walk_through<wide>(row, kStaticTwo, layout, two, distance));
  all.push_back(walk_through<wide>(row, kStaticThree, layout, three, distance));
  all.push_back(walk_through<wide>(row, kDynamic, layout, any, distance));
}

/// Reads the same element again and again.
template <typename Where, typename Read>
Operation read_again(std::string row, Where where, Read read) {
  return {std::move(row), "", [where, read] {
            double value = 0;
            for (int i = 0; i < kOperationsPerBatch; ++i) {
              Where at = where;
              forget(at);
              value = read(at);
              forget(value);
            }
            return value == 2.0;
          }};
}

}  // namespace

const std::vector<std::string> kArithmeticColumns = {kPlain,
                                                     std::string("packed, ") + kStaticTwo,
                                                     std::string("packed, ") + kStaticThree,
                                                     std::string("packed, ") + kDynamic,
                                                     std::string("wide, ") + kStaticTwo,
                                                     std::string("wide, ") + kStaticThree,
                                                     std::string("wide, ") + kDynamic};

std::vector<Operation> arithmetic() {
  std::vector<Operation> all;
  all.push_back({"double*", kPlain, [] {
                   static double elements[2 * kMiddle];
                   return walk(elements + kMiddle, kNear,
                               [](double*& p, std::ptrdiff_t n) { p += n; });
                 }});
  add_layout(all, "indefinite", indefinite{0}, kNear);
  add_layout(all, "cyclic", cyclic{}, kNear);
  add_layout(all, "block-cyclic, 64 static, within a block", block_cyclic<kBlock>{}, kNear);
  add_layout(all, "block-cyclic, 64 static, to another", block_cyclic<kBlock>{}, kFar);
  add_layout(all, "block-cyclic, 64 dynamic, within a block", block_cyclic<>{kBlock}, kNear);
  add_layout(all, "block-cyclic, 64 dynamic, to another", block_cyclic<>{kBlock}, kFar);
  return all;
}

Result<std::vector<Operation>> own_element(Context& context) {
  constexpr uint64_t kElements = 256;
  STRIPLINE_ASSIGN_OR_RETURN(const auto by_one, shared_array<double>::create(context, kElements));
  STRIPLINE_ASSIGN_OR_RETURN(const auto by_block, (shared_array<double, block_cyclic<>>::create(
                                                      context, kElements, {kBlock})));
  for (double& value : by_one.local_span()) value = 2.0;
  for (double& value : by_block.local_span()) value = 2.0;
  const uint64_t mine = by_one.index_of(5);
  Context* const ctx = &context;
  std::vector<Operation> all;
  all.push_back(read_again("plain load, `*p`", by_one.local_span().data() + 5,
                           [](const double* p) { return *p; }));
  all.push_back(read_again("cyclic, packed pointer, `p.get(ctx)`", by_one.ptr(mine),
                           [ctx](const auto& p) { return p.get(*ctx); }));
  all.push_back(read_again("block-cyclic, packed pointer, `p.get(ctx)`",
                           by_block.ptr(by_block.index_of(5)),
                           [ctx](const auto& p) { return p.get(*ctx); }));
  all.push_back(read_again("cyclic, wide pointer, `p.get(ctx)`",
                           by_one.ptr<pointer_form::wide>(mine),
                           [ctx](const auto& p) { return p.get(*ctx); }));
  all.push_back(read_again("cyclic, by index, `a.read(i)`", mine,
                           [by_one](uint64_t index) { return by_one.read(index); }));
  all.push_back(read_again("block-cyclic, by index, `a.read(i)`", by_block.index_of(5),
                           [by_block](uint64_t index) { return by_block.read(index); }));
  all.push_back(read_again("`ctx.rget(p)`, which does not look first", by_one.global(mine),
                           [ctx](global_ptr<double> p) { return ctx->rget(p); }));
  return all;
}

}  // namespace stripline::suites::arrays
