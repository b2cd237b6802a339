// kernel.struct_reads: members of structs that are spread over all ranks, one struct after the
// other or at random (Alvanos et al., section 4).
#include "base/random.h"
#include "suites/kernels/indirect/indirect_variants.h"
#include "suites/kernels/kernels.h"

namespace stripline::suites {
namespace {

constexpr const char* kMembersFactor = "members";
constexpr const char* kOrderFactor = "order";
constexpr const char* kStream = "stream";
constexpr const char* kRandom = "random";

struct Quadruple {
  double a = 0;
  double b = 0;
  double c = 0;
  double d = 0;
};
// Small whole numbers, whose sums are exact.
Quadruple quadruple_of(uint64_t element, uint64_t salt) {
  const auto value = static_cast<double>((element + salt) % 1024);
  return {value, value + 1, value + 2, value + 3};
}

Result<experiment::SampleSeries> run_struct_reads(Session& session, const experiment::Point& point,
                                                  const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const auto iterations = static_cast<int64_t>(size_param(point, indirect_factor::kIterations));
  const bool four = size_param(point, kMembersFactor) == 4;
  const bool streams = experiment::text_param(point, kOrderFactor).value_or(kStream) == kStream;
  const bool together = indirect_variant_of(point) == IndirectVariant::tuned;
  const IndirectOptions options = indirect_options_of(point);
  using Array = shared_array<Quadruple>;
  const uint64_t elements = size_param(point, indirect_factor::kElements) * ctx.rank_n();
  STRIPLINE_ASSIGN_OR_RETURN(Array array, Array::create(ctx, elements));
  std::vector<uint64_t> index(static_cast<size_t>(iterations));
  double sum = 0;
  const auto add_two = [&sum](int64_t, double a, double b) { sum += a + b; };
  const auto add_four = [&sum](int64_t, double a, double b, double c, double d) {
    sum += a + b + c + d;
  };
  using Q = Quadruple;
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    const std::span<Quadruple> mine = array.local_span();
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = quadruple_of(array.index_of(i), salt);
    const uint64_t first = elements / ctx.rank_n() * ctx.rank_me();
    for (size_t i = 0; i < index.size(); ++i) {
      index[i] = (streams ? first + i : hash_of(salt, ctx.rank_me(), i)) % elements;
    }
    sum = 0;
  };
  parts.run = [&] {
    const IndirectRange loop = range(0, iterations);
    if (together && four) {
      for_each_indirect(ctx, loop, options, add_four,
                        read(array, index, &Q::a, &Q::b, &Q::c, &Q::d));
    } else if (together) {
      for_each_indirect(ctx, loop, options, add_two, read(array, index, &Q::a, &Q::b));
    } else if (four) {
      for_each_indirect(ctx, loop, options, add_four, read(array, index, &Q::a),
                        read(array, index, &Q::b), read(array, index, &Q::c),
                        read(array, index, &Q::d));
    } else {
      for_each_indirect(ctx, loop, options, add_two, read(array, index, &Q::a),
                        read(array, index, &Q::b));
    }
    if (Work* const work = ctx.work()) {
      const auto reads = static_cast<double>(iterations) * (four ? 4 : 2);
      work->compute(reads, 0);
    }
  };
  parts.verify = [&](uint64_t salt) {
    for (const uint64_t element : index) {
      const Quadruple q = quadruple_of(element, salt);
      sum -= q.a + q.b + (four ? q.c + q.d : 0);
    }
    return sum == 0;
  };
  parts.scale = 1 / static_cast<double>(iterations);
  return measure_indirect(session, rule, parts, array);
}

}  // namespace

Benchmark struct_reads_benchmark() {
  return indirect_benchmark(
      {.known = experiment::kernels::kStructReads,
       .run = run_struct_reads,
       .title = "Members of structs of other ranks",
       .description =
           "Every rank sums up two or four members of structs of four doubles, which lie "
           "cyclically on the ranks: of structs that follow each other, or of random ones.",
       .factors = {integer_factor(indirect_factor::kIterations, "1", "Structs that a rank reads.",
                                  {4096}, 1, 1e8),
                   integer_factor(indirect_factor::kElements, "1", "Structs of a rank.", {16384}, 1,
                                  1e8),
                   integer_factor(kMembersFactor, "1", "Members that are read.", {2, 4}, 2, 4),
                   name_factor(kOrderFactor, "Which structs are read.", {kStream, kRandom})},
       .metric = {"time_per_struct", "s", true},
       .verification = "The sum of each rank is compared with that of its index, exactly, in every "
                       "repetition."});
}

}  // namespace stripline::suites
