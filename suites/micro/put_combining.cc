// micro.put_combining, micro.put_message: small puts without handles, alone and together.
#include <limits>

#include "runtime/rma/context_state.h"
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/put_area.h"
#include "suites/micro/transfer.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using Rule = rma::PutCombiner::Rule;

// Long enough that the round trip of the fence at the end is a small part.
constexpr size_t kPuts = 256;
constexpr size_t kPutsOfMessages = 16384;
constexpr size_t kSmallestPut = 8;

// The combiner's rule is another one while this lives.
class Ruled {
 public:
  Ruled(Context& context, const Rule& rule)
      : combiner_(context.state().operations.combiner()), usual_(combiner_.rule()) {
    combiner_.start(rule);
  }
  ~Ruled() { combiner_.start(usual_); }
  Ruled(const Ruled&) = delete;
  Ruled& operator=(const Ruled&) = delete;

 private:
  rma::PutCombiner& combiner_;
  Rule usual_;
};

Result<SampleSeries> measure(Session& session, size_t bytes, size_t puts, Rule rule_of_puts,
                             const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(PutArea area, PutArea::create(session, bytes, puts));
  // How old a message grows is no matter here: all leave when they are full, or at the fence.
  rule_of_puts.max_delay_s = std::numeric_limits<double>::infinity();
  const Ruled ruled(ctx, rule_of_puts);
  const auto put_all = [&] {
    for (size_t i = 0; i < puts; ++i) ctx.rput_nbi(area.source(i), area.there(i), bytes);
    ctx.fence(1);
  };
  return area.measure(session, rule, put_all);
}

Result<SampleSeries> run_combining(Session& session, const experiment::Point& point,
                                   const experiment::StopRule& rule) {
  const size_t bytes = bytes_of(point);
  Rule forced;
  forced.max_put_bytes = point.variant == "combined" ? bytes : 0;
  if (2 * (bytes + sizeof(uint64_t)) > session.context().am_max_bytes()) {
    return Error(ErrorCode::invalid_argument,
                 "no two puts of " + std::to_string(bytes) + " B fit into a message here");
  }
  return measure(session, bytes, kPuts, forced, rule);
}

Result<SampleSeries> run_message(Session& session, const experiment::Point& point,
                                 const experiment::StopRule& rule) {
  Rule forced;
  forced.max_put_bytes = kSmallestPut;
  forced.message_bytes = size_param(point, factor::kMessageBytes);
  const size_t largest = session.context().state().operations.combiner().largest_message_bytes();
  if (forced.message_bytes > largest) {
    return Error(ErrorCode::invalid_argument,
                 "combined puts travel in at most " + std::to_string(largest) +
                     " B on this fabric, not " + std::to_string(forced.message_bytes) + " B");
  }
  return measure(session, kSmallestPut, kPutsOfMessages, forced, rule);
}

}  // namespace

Benchmark put_combining_benchmark() {
  Benchmark benchmark =
      put_benchmark(run_combining, micro::kPutCombining, "Small puts alone and together");
  experiment::Experiment& e = benchmark.declaration;
  e.description =
      "Rank 0 makes 256 puts without handles to places of rank 1 that do not touch, each by itself "
      "or combined in messages, and a fence. A sample is the time of all divided by their number.";
  e.factors = {integer_factor(factor::kBytes, "B", "Size of a put.",
                              {8, 64, 256, 512, 1000, 2000, 4000}, 8, 1 << 16)};
  e.feeds = {"rma.put_combining.max_put_bytes"};
  return benchmark;
}

Benchmark put_message_benchmark() {
  Benchmark benchmark =
      put_benchmark(run_message, micro::kPutMessage, "Size of messages of small puts");
  experiment::Experiment& e = benchmark.declaration;
  e.version = 2;  // 1: 4096 puts
  e.description =
      "Rank 0 makes 16384 puts of 8 B without handles to places of rank 1 that do not touch, "
      "combined in messages of at most some size, and a fence. A sample is the time of all divided "
      "by their number.";
  e.factors = {integer_factor(factor::kMessageBytes, "B", "Largest message.",
                              {512, 1016, 2040, 4088, 8184, 16376, 32760, 65528}, 64, 1 << 19)};
  e.feeds = {"rma.put_combining.message_bytes", "rma.put_combining.message"};
  return benchmark;
}

}  // namespace stripline::suites
