// kernel.serial_tax: what the access forms that users write cost on data in reach of loads and
// stores.
#include <algorithm>
#include <cstddef>

#include <stripline/fine.h>
#include <stripline/loop.h>

#include "suites/compute_bodies.h"
#include "suites/grids.h"
#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/kernels.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// A repetition runs the loop enough times that reading the clock does not count.
constexpr size_t kElementsPerRepetition = size_t{1} << 20;
constexpr size_t kSinglePerRepetition = size_t{1} << 16;  // of those that are accessed one by one

// The data are small integers; a constant sum in every loop.
double element(size_t i) { return static_cast<double>(i % 89); }
double weight(size_t i) { return static_cast<double>(1 + i % 3); }

// The last rank whose memory rank 0 reaches by loads and stores; itself where there is no other.
rank_t last_in_reach(const Context& ctx) {
  rank_t rank = ctx.rank_n() - 1;
  while (!ctx.is_local(rank)) --rank;
  return rank;
}

// Each element is a read of a region.
double dot_in_region(Context& ctx, global_ptr<double> array, const double* w, size_t n) {
  fine_region fine(ctx);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += fine.read(array + static_cast<std::ptrdiff_t>(i)) * w[i];
  return sum;
}

// Each element is a load, which the compiler must make where it stands, as that of a read: other
// ranks may store there.
double dot_one_by_one(const double* data, const double* w, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += *static_cast<const volatile double*>(data + i) * w[i];
  return sum;
}

// Each element becomes the difference of its weight and itself, and after a second loop what it
// was: a read and a write of a region.
void subtract_in_region(Context& ctx, global_ptr<double> array, const double* w, size_t n) {
  fine_region fine(ctx);
  for (size_t i = 0; i < n; ++i) {
    const auto place = array + static_cast<std::ptrdiff_t>(i);
    fine.write(place, w[i] - fine.read(place));
  }
}

// The same by a load and a store, which the compiler must make where they stand.
void subtract_one_by_one(double* data, const double* w, size_t n) {
  auto* const one = static_cast<volatile double*>(data);
  for (size_t i = 0; i < n; ++i) one[i] = w[i] - one[i];
}

// What is there after this many loops that subtract.
bool is_subtracted(const double* data, const double* w, size_t n, size_t times) {
  for (size_t i = 0; i < n; ++i) {
    if (data[i] != (times % 2 == 0 ? element(i) : w[i] - element(i))) return false;
  }
  return true;
}

Result<SampleSeries> run_serial_tax(Session& session, const experiment::Point& point,
                                    const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t n = size_param(point, "elements");
  STRIPLINE_ASSIGN_OR_RETURN(auto array, ctx.new_symmetric_array<double>(n));
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    AlignedBuffer<double> weights(n);
    const bool loads = point.variant == "loads";
    const bool in_region = point.variant == variant::kFineRegion;
    const bool stores = point.variant == "stores";
    const bool region_stores = point.variant == "fine_stores";
    const bool one_by_one = loads || in_region || stores || region_stores;
    const auto place = ctx.on_rank(array, one_by_one ? last_in_reach(ctx) : 0);
    double* const data = ctx.local(place);
    double expected = 0;
    for (size_t i = 0; i < n; ++i) {
      data[i] = element(i);
      weights[i] = weight(i);
      expected += element(i) * weight(i);
    }
    const size_t loops =
        std::max<size_t>(1, (one_by_one ? kSinglePerRepetition : kElementsPerRepetition) / n);
    const double* const w = weights.data();
    const bool plain = point.variant == "plain";
    bool good = true;
    size_t subtractions = 0;
    repeat_alone(
        session, rule,
        [&] {
          double total = 0;
          const double start_s = ctx.now_s();
          for (size_t i = 0; i < loops; ++i) {
            double sum = 0;
            if (plain) {
              sum = dot(data, w, n);
            } else if (loads) {
              sum = dot_one_by_one(data, w, n);
            } else if (in_region) {
              sum = dot_in_region(ctx, place, w, n);
            } else if (stores) {
              subtract_one_by_one(data, w, n);
            } else if (region_stores) {
              subtract_in_region(ctx, place, w, n);
            } else {
              strip_for(ctx, array, n, {.use_model = false},
                        [&sum, w](size_t begin, size_t end, const double* strip) {
                          sum += dot(strip, w + begin, end - begin);
                        });
            }
            total += sum;
          }
          const double end_s = ctx.now_s();
          if (stores || region_stores) {
            subtractions += loops;
            good = good && is_subtracted(data, w, n, subtractions);
          } else {
            good = good && total == expected * static_cast<double>(loops);
          }
          return (end_s - start_s) / static_cast<double>(loops);
        },
        series);
    series.verified = good;
    if (!good) series.note = "verification failed: the sum, or an element, is wrong";
  }
  ctx.barrier();
  ctx.delete_symmetric_array(array);
  return series;
}

}  // namespace

Benchmark serial_tax_benchmark() {
  return declare(
      {.known = kernels::kSerialTax,
       .run = run_serial_tax,
       .title = "Cost of the access form on local data",
       .description =
           "Rank 0 multiplies a part of a symmetric array that is its own with a local vector: as "
           "a plain loop over pointers (plain), and as users write loops over global data, through "
           "strip_for (access). Chen, section 4.1, found 2.5% between translated and plain C. "
           "Besides, element by element, of the last rank whose memory rank 0 reaches by loads and "
           "stores: the product by loads (loads), and in a fine_region (fine_region); and each "
           "element changed, by a load and a store (stores), and in a fine_region (fine_stores).",
       .factors = {integer_factor("elements", "1", "Doubles in the array.",
                                  {1 << 16, 1 << 12, 1 << 14, 1 << 18, 1 << 20}, 1, 1 << 24)},
       .metric = {"time_per_loop", "s", true},
       .min_ranks = 1,
       .verification = "The sum is compared with that of a separate loop, or each element with "
                       "what it should be, in every repetition."});
}

}  // namespace stripline::suites
