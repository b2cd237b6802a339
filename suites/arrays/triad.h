// The Stream triad a = b + alpha c over cyclic arrays, in the variants of Chen, Figure 4.8.
#pragma once

#include <cstdint>
#include <span>

#include <stripline/shared_array.h>

#include "base/result.h"

namespace stripline::suites::arrays {

struct TriadArrays {
  shared_array<double> a;
  shared_array<double> b;
  shared_array<double> c;

  /// Collective; `elements` of each array per rank.
  static Result<TriadArrays> create(Context& context, uint64_t elements);
  void destroy();
};

/// One pass over this rank's elements.
using Triad = void (*)(Context&, const TriadArrays&, double alpha);

struct TriadVariant {
  const char* name;
  Triad run;
};

/// The last one is the baseline: a loop over private pointers, as a programmer writes it.
std::span<const TriadVariant> triad_variants();

enum TriadIndex : size_t {
  kTestInteger,
  kTestPointer,
  kTestRemoved,
  kPrivatised,
  kManual,
  kTriadVariants
};

/// Fills b and c, and clears a.
void prepare(const TriadArrays& arrays);
/// True if this rank's part of a is exactly right.
bool verify(const TriadArrays& arrays, double alpha);

}  // namespace stripline::suites::arrays
