#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <stripline/forall.h>

#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

// Room for sums of elements and blocks in 64 bits.
constexpr int64_t kLargestElement = int64_t{1} << 61;

constexpr const char* kForall = "forall";

uint64_t modulo(int64_t value, rank_t ranks) {
  return detail::floor_divide<0>(value, ranks).remainder;
}

/// The x with value x = 1 (mod modulus), for numbers without a common divisor; extended Euclid.
uint64_t inverse(uint64_t value, uint64_t modulus) {
  int64_t x = 0;
  int64_t next_x = 1;
  uint64_t rest = modulus;
  uint64_t next_rest = value % modulus;
  while (next_rest != 0) {
    const uint64_t quotient = rest / next_rest;
    x = std::exchange(next_x, x - static_cast<int64_t>(quotient) * next_x);
    rest = std::exchange(next_rest, rest - quotient * next_rest);
  }
  return detail::floor_divide<0>(x, modulus).remainder;
}

[[noreturn]] void fail(Context& context, const rma::Call& call, const std::string& message) {
  context.state().fail(Error(ErrorCode::invalid_argument, text(call) + ": " + message));
}

}  // namespace

// The ranks of successive iterations are K, K + D, K + 2 D, ... (mod T), with D = a S and
// K = a L + b. This rank's are those j with D j = me - K (mod T): none unless g = gcd(T, D) divides
// me - K, else every (T / g)th.
iterations iterations_of(const index_range& loop, const affine_affinity& affinity, rank_t ranks,
                         rank_t me) {
  const uint64_t a = modulo(affinity.a, ranks);
  const uint64_t first_rank = (a * modulo(loop.lower, ranks) + modulo(affinity.b, ranks)) % ranks;
  const uint64_t distance = a * modulo(loop.step, ranks) % ranks;
  const uint64_t divisor = std::gcd(uint64_t{ranks}, distance);
  const uint64_t wanted = (me + ranks - first_rank) % ranks;
  const uint64_t all = loop.count();
  if (wanted % divisor != 0) return {};
  const uint64_t period = ranks / divisor;
  const uint64_t first = wanted / divisor * inverse(distance / divisor, period) % period;
  if (first >= all) return {};
  return {detail::wrapping_add(loop.lower,
                               detail::wrapping_multiply(loop.step, static_cast<int64_t>(first))),
          detail::wrapping_multiply(loop.step, static_cast<int64_t>(period)),
          (all - 1 - first) / period + 1};
}

namespace detail {

void check_range(Context& context, const index_range& loop, const char* name, CallSite site) {
  if (loop.step == 0) {
    fail(context, {name, site},
         "a loop from " + std::to_string(loop.lower) + " to " + std::to_string(loop.upper) +
             " with step 0 never ends");
  }
}

ElementWalk walk_of(Context& context, const index_range& loop, int64_t a, int64_t k,
                    int64_t bound) {
  const auto last = wrapping_add(
      loop.lower, wrapping_multiply(loop.step, static_cast<int64_t>(loop.count() - 1)));
  const auto element_of = [&](int64_t i) {
    int64_t element = 0;
    if (__builtin_mul_overflow(a, i, &element) || __builtin_add_overflow(element, k, &element) ||
        element < 0 || element >= std::min(bound, kLargestElement)) {
      fail(context, kForall,
           bound == 0 ? std::string("there are no elements: an array has none, or owner_of() was "
                                    "given a null pointer")
                      : "iteration " + std::to_string(i) + " is of element " + std::to_string(a) +
                            " * " + std::to_string(i) + " + " + std::to_string(k) +
                            ", but elements are from 0 to below " + std::to_string(bound));
    }
    return element;
  };
  ElementWalk walk;
  walk.first = element_of(loop.lower);
  element_of(last);  // those in between lie between the two
  // One iteration has no distance to a next.
  walk.step = loop.count() == 1 ? 0 : wrapping_multiply(a, loop.step);
  return walk;
}

void fail_zipped(Context& context) {
  fail(context, kForall,
       "arrays that are walked through together differ in size, block or owner; create them alike");
}

}  // namespace detail
}  // namespace stripline
