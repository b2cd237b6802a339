#include "suites/arrays/triad.h"

#include <array>

#include <stripline/forall.h>

namespace stripline::suites::arrays {
namespace {

// Small integers, so that results are exact.
double b_of(uint64_t index) { return static_cast<double>(index % 1021); }
double c_of(uint64_t index) { return static_cast<double>(index % 509); }

// The body of a program that does not know that its elements are its own.
auto shared_body(const TriadArrays& arrays, double alpha) {
  return [a = arrays.a, b = arrays.b, c = arrays.c, alpha](int64_t i) {
    const auto index = static_cast<uint64_t>(i);
    a.write(index, b.read(index) + alpha * c.read(index));
  };
}

index_range all(const TriadArrays& arrays) {
  return range(0, static_cast<int64_t>(arrays.a.size()));
}

void test_integer(Context& ctx, const TriadArrays& arrays, double alpha) {
  forall(ctx, all(arrays), affinity_by([](int64_t i) { return i; }), shared_body(arrays, alpha));
}

void test_pointer(Context& ctx, const TriadArrays& arrays, double alpha) {
  const auto owner = [p = arrays.a.ptr(0), elements = arrays.a.distribution()](int64_t i) {
    return advance(p, i, elements).where();
  };
  forall(ctx, all(arrays), rank_by(owner), shared_body(arrays, alpha));
}

void test_removed(Context& ctx, const TriadArrays& arrays, double alpha) {
  forall(ctx, all(arrays), owner_of(arrays.a), shared_body(arrays, alpha));
}

void privatised(Context& ctx, const TriadArrays& arrays, double alpha) {
  forall(ctx, zip(arrays.a, arrays.b, arrays.c),
         [alpha](double& a, double b, double c) { a = b + alpha * c; });
}

void manual(Context& /*ctx*/, const TriadArrays& arrays, double alpha) {
  double* const a = arrays.a.local_span().data();
  const double* const b = arrays.b.local_span().data();
  const double* const c = arrays.c.local_span().data();
  const size_t n = arrays.a.local_span().size();
  for (size_t i = 0; i < n; ++i) a[i] = b[i] + alpha * c[i];
}

constexpr std::array<TriadVariant, kTriadVariants> kVariants = {
    {{"test in every iteration, integer", test_integer},
     {"test in every iteration, pointer", test_pointer},
     {"test removed", test_removed},
     {"test removed, elements privatised", privatised},
     {"private pointers by hand", manual}}};

}  // namespace

Result<TriadArrays> TriadArrays::create(Context& context, uint64_t elements) {
  const uint64_t size = elements * context.rank_n();
  TriadArrays arrays;
  STRIPLINE_ASSIGN_OR_RETURN(arrays.a, shared_array<double>::create(context, size));
  STRIPLINE_ASSIGN_OR_RETURN(arrays.b, shared_array<double>::create(context, size));
  STRIPLINE_ASSIGN_OR_RETURN(arrays.c, shared_array<double>::create(context, size));
  return arrays;
}

void TriadArrays::destroy() {
  a.destroy();
  b.destroy();
  c.destroy();
}

std::span<const TriadVariant> triad_variants() { return kVariants; }

void prepare(const TriadArrays& arrays) {
  for (size_t k = 0; k < arrays.a.local_span().size(); ++k) {
    const uint64_t index = arrays.a.index_of(k);
    arrays.a.local_span()[k] = -1;
    arrays.b.local_span()[k] = b_of(index);
    arrays.c.local_span()[k] = c_of(index);
  }
}

bool verify(const TriadArrays& arrays, double alpha) {
  const auto mine = arrays.a.local_span();
  for (size_t k = 0; k < mine.size(); ++k) {
    const uint64_t index = arrays.a.index_of(k);
    if (mine[k] != b_of(index) + alpha * c_of(index)) return false;
  }
  return true;
}

}  // namespace stripline::suites::arrays
