#include "optimizer/access/lmad.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "optimizer/access/sort_few.h"

namespace stripline::access {
namespace {

// Steps of the search for a common byte.
constexpr int kMostSteps = 4096;

int64_t floor_div(int64_t a, int64_t b) {  // b > 0
  return a / b - (a % b < 0 ? 1 : 0);
}
int64_t ceil_div(int64_t a, int64_t b) {  // b > 0
  return a / b + (a % b > 0 ? 1 : 0);
}

// Makes the run longer where the innermost dimension touches or overlaps itself.
bool coalesce_run(Lmad& lmad) {
  for (size_t k = 0; k < lmad.dims.size(); ++k) {
    if (static_cast<uint64_t>(lmad.dims[k].stride_bytes) > lmad.run_bytes) continue;
    lmad.run_bytes += static_cast<uint64_t>(lmad.dims[k].span_bytes());
    lmad.dims.erase(k);
    return true;
  }
  return false;
}

// Makes one dimension of two, the larger of which continues the smaller.
bool coalesce_pair(Lmad& lmad) {
  for (size_t k = 0; k + 1 < lmad.dims.size(); ++k) {
    Dimension& small = lmad.dims[k];
    for (size_t other = k + 1; other < lmad.dims.size(); ++other) {
      const Dimension& large = lmad.dims[other];
      if (large.stride_bytes % small.stride_bytes != 0 ||
          large.stride_bytes > small.span_bytes() + small.stride_bytes) {
        continue;
      }
      small.count +=
          static_cast<uint64_t>(large.span_bytes()) / static_cast<uint64_t>(small.stride_bytes);
      lmad.dims.erase(other);
      return true;
    }
  }
  return false;
}

// coefficient * index, for indices from least to most.
struct Term {
  int64_t coefficient = 0;
  int64_t least = 0;
  int64_t most = 0;
};

// Tells whether some sum of the terms, each with an index of its range, lies in [low, high].
class SumSearch {
 public:
  SumSearch(int64_t low, int64_t high) : low_(low), high_(high) {}

  void add(int64_t coefficient, int64_t least, int64_t most) {
    for (size_t t = 0; t < terms_; ++t) {
      if (term_[t].coefficient != coefficient) continue;
      term_[t].least += least;
      term_[t].most += most;
      return;
    }
    term_[terms_++] = {coefficient, least, most};
  }

  Overlap run() {
    detail::sort_few(std::span(term_).first(terms_), [](const Term& one, const Term& other) {
      return one.coefficient > other.coefficient;
    });
    for (size_t t = terms_; t-- > 0;) {
      rest_least_[t] = rest_least_[t + 1] + term_[t].coefficient * term_[t].least;
      rest_most_[t] = rest_most_[t + 1] + term_[t].coefficient * term_[t].most;
      rest_gcd_[t] = std::gcd(rest_gcd_[t + 1], term_[t].coefficient);
    }
    if (found(0, 0)) return Overlap::overlapping;
    return steps_ > kMostSteps ? Overlap::unknown : Overlap::disjoint;
  }

 private:
  // True if the terms from t on bring `sum` into the window.
  bool found(size_t t, int64_t sum) {
    const int64_t low = low_ - sum;
    const int64_t high = high_ - sum;
    if (rest_most_[t] < low || rest_least_[t] > high) return false;
    if (t == terms_) return true;
    // All they can add are multiples of their common divisor.
    if (floor_div(high, rest_gcd_[t]) < ceil_div(low, rest_gcd_[t])) return false;
    const Term& term = term_[t];
    const int64_t least = std::max(term.least, ceil_div(low - rest_most_[t + 1], term.coefficient));
    const int64_t most =
        std::min(term.most, floor_div(high - rest_least_[t + 1], term.coefficient));
    for (int64_t index = least; index <= most; ++index) {
      if (++steps_ > kMostSteps) return false;
      if (found(t + 1, sum + term.coefficient * index)) return true;
    }
    return false;
  }

  int64_t low_;
  int64_t high_;
  size_t terms_ = 0;
  std::array<Term, 2 * kMaxDimensions> term_{};
  std::array<int64_t, 2 * kMaxDimensions + 1> rest_least_{};
  std::array<int64_t, 2 * kMaxDimensions + 1> rest_most_{};
  std::array<int64_t, 2 * kMaxDimensions + 1> rest_gcd_{};
  int steps_ = 0;
};

bool same_dims(const Lmad& a, const Lmad& b) { return std::ranges::equal(a.dims, b.dims); }

// `b` continues or overlaps `a`, or lies within it, in dimension k of `a`; all else is equal.
std::optional<Lmad> extended(const Lmad& a, const Lmad& b, size_t k) {
  const Dimension& mine = a.dims[k];
  const int64_t distance = b.base - a.base;  // not negative
  if (distance % mine.stride_bytes != 0) return std::nullopt;
  const auto steps = static_cast<uint64_t>(distance / mine.stride_bytes);
  if (steps > mine.count) return std::nullopt;
  // The dimension of b that has the same stride; none if it has one index there.
  Lmad others_a = a;
  others_a.dims.erase(k);
  uint64_t count = 1;
  Lmad others_b = b;
  for (size_t other = 0; other < b.dims.size(); ++other) {
    if (b.dims[other].stride_bytes != mine.stride_bytes) continue;
    count = b.dims[other].count;
    others_b.dims.erase(other);
    break;
  }
  if (!same_dims(others_a, others_b)) return std::nullopt;
  Lmad all = a;
  all.dims[k].count = std::max(mine.count, steps + count);
  return all;
}

// As extended(), where `a` has only one index in a dimension of `b`, whose stride is b's.
std::optional<Lmad> prefixed(const Lmad& a, const Lmad& b) {
  if (b.dims.size() != a.dims.size() + 1) return std::nullopt;
  for (size_t k = 0; k < b.dims.size(); ++k) {
    Lmad others = b;
    others.dims.erase(k);
    if (!same_dims(a, others)) continue;
    const int64_t distance = b.base - a.base;
    if (distance != 0 && distance != b.dims[k].stride_bytes) continue;
    Lmad all = b;
    all.base = a.base;
    all.dims[k].count += distance == 0 ? 0 : 1;
    return all;
  }
  return std::nullopt;
}

}  // namespace

bool Lmad::add(Dimension dimension) {
  if (dims.size() == kMaxDimensions) return false;
  dims.emplace_back(dimension);
  return true;
}

Extent Lmad::extent() const {
  Extent extent{base, base + static_cast<int64_t>(run_bytes)};
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t span = dims[k].span_bytes();
    (span < 0 ? extent.begin : extent.end) += span;
  }
  return extent;
}

uint64_t Lmad::runs() const {
  uint64_t product = 1;
  for (size_t k = 0; k < dims.size(); ++k) product *= dims[k].count;
  return product;
}

std::string Lmad::text() const {
  std::string text = "[" + std::to_string(base);
  for (size_t k = dims.size(); k-- > 0;) {
    text +=
        " + 0.." + std::to_string(dims[k].count - 1) + " * " + std::to_string(dims[k].stride_bytes);
  }
  return text + "]: " + std::to_string(run_bytes) + " B";
}

bool operator==(const Lmad& a, const Lmad& b) {
  return a.base == b.base && a.run_bytes == b.run_bytes && same_dims(a, b);
}

Lmad canonical(const Lmad& lmad) {
  Lmad result = lmad;
  for (size_t k = result.dims.size(); k-- > 0;) {
    Dimension& dim = result.dims[k];
    if (dim.count <= 1 || dim.stride_bytes == 0) {
      result.dims.erase(k);
    } else if (dim.stride_bytes < 0) {
      result.base += dim.span_bytes();
      dim.stride_bytes = -dim.stride_bytes;
    }
  }
  do {
    detail::sort_few(std::span(result.dims), [](const Dimension& one, const Dimension& other) {
      return one.stride_bytes < other.stride_bytes;
    });
  } while (coalesce_run(result) || coalesce_pair(result));
  return result;
}

bool runs_are_distinct(const Lmad& canonical) {
  uint64_t within = canonical.run_bytes;
  for (size_t k = 0; k < canonical.dims.size(); ++k) {
    const Dimension& dim = canonical.dims[k];
    if (static_cast<uint64_t>(dim.stride_bytes) < within) return false;
    within += static_cast<uint64_t>(dim.span_bytes());
  }
  return true;
}

Overlap overlap(const Lmad& a, const Lmad& b) {
  const Lmad first = canonical(a);
  const Lmad second = canonical(b);
  const Extent one = first.extent();
  const Extent other = second.extent();
  if (one.end <= other.begin || other.end <= one.begin) return Overlap::disjoint;
  if (first.contiguous() && second.contiguous()) return Overlap::overlapping;
  // A byte is common if a run of the second begins less than its length before, or less than the
  // first's length behind, a run of the first.
  SumSearch search(-static_cast<int64_t>(second.run_bytes) + 1 - (second.base - first.base),
                   static_cast<int64_t>(first.run_bytes) - 1 - (second.base - first.base));
  for (size_t k = 0; k < second.dims.size(); ++k) {
    search.add(second.dims[k].stride_bytes, 0, static_cast<int64_t>(second.dims[k].count - 1));
  }
  for (size_t k = 0; k < first.dims.size(); ++k) {
    search.add(first.dims[k].stride_bytes, -static_cast<int64_t>(first.dims[k].count - 1), 0);
  }
  return search.run();
}

const char* to_string(Union kind) {
  switch (kind) {
    case Union::identical:
      return "redundant";
    case Union::contiguous:
      return "contiguous";
    case Union::interleaved:
      return "interleaved";
  }
  return "?";
}

std::optional<Merged> unite(const Lmad& one, const Lmad& other) {
  const bool in_order =
      one.base < other.base || (one.base == other.base && one.extent().end >= other.extent().end);
  const Lmad& a = in_order ? one : other;
  const Lmad& b = in_order ? other : one;
  const int64_t distance = other.base - one.base;
  const auto merged = [&](const Lmad& all, Union kind) {
    const Lmad result = canonical(all);
    return Merged{result, result == a ? Union::identical : kind, distance};
  };
  if (a == b) return Merged{a, Union::identical, 0};
  const auto gap = static_cast<uint64_t>(b.base - a.base);
  if (same_dims(a, b) && gap <= a.run_bytes) {
    Lmad all = a;
    all.run_bytes = std::max(a.run_bytes, gap + b.run_bytes);
    // Where the streams fill each other's gaps, a dimension disappears.
    const bool fills = canonical(all).dims.size() < a.dims.size();
    return merged(all, fills ? Union::interleaved : Union::contiguous);
  }
  // One region that holds all of the other.
  if (a.contiguous() && b.extent().end <= a.extent().end) return merged(a, Union::identical);
  if (a.run_bytes != b.run_bytes) return std::nullopt;
  for (size_t k = 0; k < a.dims.size(); ++k) {
    if (const auto all = extended(a, b, k)) return merged(*all, Union::contiguous);
  }
  if (const auto all = prefixed(a, b)) return merged(*all, Union::contiguous);
  if (!same_dims(a, b) || a.dims.size() == kMaxDimensions) return std::nullopt;
  Lmad both = a;
  both.add({b.base - a.base, 2});
  both = canonical(both);
  // Worth it where the streams fill each other's gaps.
  if (both.dims.size() > a.dims.size()) return std::nullopt;
  return Merged{both, Union::interleaved, distance};
}

}  // namespace stripline::access
