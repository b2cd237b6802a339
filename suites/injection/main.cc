// What threads of a rank gain by contexts of their own: streams of puts, gets and atomic additions
// of rank 0's threads to rank 1, by an injection_context each and by the Context in turns.
//
//   stripline-run -n 2 --same-node network -- stripline-injection [--rounds 30] [--threads 1,2,4]
//
// A time is from the moment that all threads begin to the moment that the last one has completed
// its stream. Ratios are medians of those of the rounds.
#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/injection.h>

#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"
#include "runtime/rma/context_state.h"
#include "suites/harness/alternate.h"
#include "suites/harness/table.h"
#include "suites/join_to_measure.h"

namespace stripline::suites::injection {
namespace {

using harness::Alternative;

constexpr int kWarmUpRounds = 3;
constexpr rank_t kInitiator = 0;
constexpr rank_t kTarget = 1;

// A stream of a thread moves about as many bytes, by a number of operations within these bounds.
constexpr size_t kStreamBytes = size_t{1} << 20;
constexpr size_t kFewestOperations = 32;
constexpr size_t kMostOperations = 512;

struct Order {
  int rounds = 30;
  std::vector<uint64_t> threads = {1, 2, 4};
  std::vector<uint64_t> bytes = {8, 1024, 16384};
  bool json = false;
  bool markdown = false;
};

enum class Kind { put, get, add };

/// Streams of one kind and size.
struct Point {
  Kind kind = Kind::put;
  size_t bytes = sizeof(uint64_t);

  size_t operations() const {
    return std::clamp(kStreamBytes / bytes, kFewestOperations, kMostOperations);
  }
  size_t stream_bytes() const { return operations() * bytes; }
  const char* name() const {
    return kind == Kind::put ? "put" : kind == Kind::get ? "get" : "atomic add";
  }
};

/// What one thread moves.
struct Stream {
  std::vector<std::byte> here;
  global_ptr<std::byte> there;
  uint64_t added = 0;

  global_ptr<uint64_t> counter() const { return there.reinterpret<uint64_t>(); }
};

/// The streams of all threads of a point, and how they are made. On rank 0.
class Work {
 public:
  Work(Context& context, const Point& point, std::vector<injection_context>& own,
       global_ptr<std::byte> area)
      : context_(context), point_(point), own_(own), domain_(context), streams_(own.size()) {
    for (size_t thread = 0; thread < streams_.size(); ++thread) {
      Stream& stream = streams_[thread];
      stream.here.resize(point.stream_bytes());
      stream.there = context.on_rank(area, kTarget) +
                     static_cast<std::ptrdiff_t>(thread * point.stream_bytes());
      if (point.kind == Kind::add) domain_.store(stream.counter(), 0).wait();
    }
  }

  /// The batch of these threads, each by its own queue or all by the Context: seconds, and if it
  /// has moved what it was to move.
  std::pair<double, bool> batch(size_t threads, bool own) {
    ++batches_;
    for (size_t thread = 0; thread < threads; ++thread) prepare(streams_[thread], thread);
    std::barrier gate(static_cast<std::ptrdiff_t>(threads + 1));
    std::vector<std::thread> crew;
    for (size_t thread = 0; thread < threads; ++thread) {
      crew.emplace_back([&, thread] {
        gate.arrive_and_wait();
        own ? by_own_queue(streams_[thread], own_[thread]) : by_context(streams_[thread]);
        gate.arrive_and_wait();
      });
    }
    gate.arrive_and_wait();
    const double start_s = context_.now_s();
    gate.arrive_and_wait();
    const double seconds = context_.now_s() - start_s;
    for (std::thread& one : crew) one.join();
    bool right = true;
    for (size_t thread = 0; thread < threads; ++thread) {
      right = is_right(streams_[thread], thread) && right;
    }
    return {seconds, right};
  }

 private:
  std::byte stamp(size_t thread) const {
    return static_cast<std::byte>((7 * batches_ + thread) % 255 + 1);
  }

  void prepare(Stream& stream, size_t thread) {
    std::ranges::fill(stream.here, stamp(thread));
    if (point_.kind != Kind::get) return;
    context_.rput(stream.here.data(), stream.there, stream.here.size()).wait();
    std::ranges::fill(stream.here, std::byte{0});
  }

  bool is_right(Stream& stream, size_t thread) {
    if (point_.kind == Kind::add) {
      stream.added += point_.operations();
      return domain_.load(stream.counter()) == stream.added;
    }
    if (point_.kind == Kind::put) {
      std::ranges::fill(stream.here, std::byte{0});
      context_.rget(stream.there, stream.here.data(), stream.here.size()).wait();
    }
    return std::ranges::all_of(stream.here, [&](std::byte one) { return one == stamp(thread); });
  }

  void by_own_queue(Stream& stream, injection_context& queue) {
    for (size_t i = 0; i < point_.operations(); ++i) {
      std::byte* const here = stream.here.data() + i * point_.bytes;
      const auto there = stream.there + static_cast<std::ptrdiff_t>(i * point_.bytes);
      if (point_.kind == Kind::put) queue.rput(here, there, point_.bytes);
      if (point_.kind == Kind::get) queue.rget(there, here, point_.bytes);
      if (point_.kind == Kind::add) queue.add(domain_, stream.counter(), 1);
    }
    queue.fence();
  }

  void by_context(Stream& stream) {
    std::vector<future> additions;
    for (size_t i = 0; i < point_.operations(); ++i) {
      std::byte* const here = stream.here.data() + i * point_.bytes;
      const auto there = stream.there + static_cast<std::ptrdiff_t>(i * point_.bytes);
      if (point_.kind == Kind::put) context_.rput_nbi(here, there, point_.bytes);
      if (point_.kind == Kind::get) context_.rget_nbi(there, here, point_.bytes);
      if (point_.kind == Kind::add) additions.push_back(domain_.add(stream.counter(), 1));
    }
    wait_all(additions);
    context_.fence();
  }

  Context& context_;
  const Point point_;
  std::vector<injection_context>& own_;
  const atomic_domain<uint64_t> domain_;
  std::vector<Stream> streams_;
  uint64_t batches_ = 0;
};

/// Quotients of what was measured in the same rounds, times `factor`, with their interval.
Result<std::string> ratio_of(const Alternative& a, const Alternative& b, double factor) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.seconds.size(); ++i) {
    ratios.push_back(factor * a.seconds[i] / b.seconds[i]);
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto interval, stats::median_interval(ratios, kConfidence));
  return bounded(stats::median(ratios), interval.low, interval.high);
}

/// Rank 0: all rounds of a point. Whether all results were right.
Result<bool> measure(Context& ctx, const Order& order, Work& work, const Point& point) {
  const auto variants = 2 * order.threads.size();  // by the Context, and by own queues
  const auto measured =
      harness::alternate(variants, kWarmUpRounds, order.rounds, [&](size_t which, int /*round*/) {
        return work.batch(order.threads[which / 2], which % 2 == 1);
      });
  const bool right = std::ranges::all_of(measured, &Alternative::right);
  Table table(
      {"threads", ">in turns", ">own queues", ">own / in turns", ">own / own of the first"});
  for (size_t i = 0; i < order.threads.size(); ++i) {
    const Alternative& turns = measured[2 * i];
    const Alternative& own = measured[2 * i + 1];
    const auto operations = static_cast<double>(order.threads[i] * point.operations());
    const auto share =
        static_cast<double>(order.threads[i]) / static_cast<double>(order.threads[0]);
    STRIPLINE_ASSIGN_OR_RETURN(const std::string gain, ratio_of(turns, own, 1));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string scaling, ratio_of(measured[1], own, share));
    table.add({std::to_string(order.threads[i]),
               metric_text("rate", operations, stats::median(turns.seconds)),
               metric_text("rate", operations, stats::median(own.seconds)), gain, scaling});
    for (const Alternative* const one : {&turns, &own}) {
      if (!order.json) continue;
      std::vector<double> rates;
      for (const double seconds : one->seconds) rates.push_back(operations / seconds);
      std::cout << json_line({.experiment = "injection",
                              .variant = one == &own ? "own_queues" : "in_turns",
                              .fabric = ctx.state().job.fabric().info().name,
                              .params = {{"operation", point.name()},
                                         {"bytes", point.bytes},
                                         {"threads", order.threads[i]}},
                              .metric = "rate",
                              .unit = "1/s",
                              .verified = one->right},
                             rates);
    }
  }
  if (order.json) return right;
  std::cout << point.name() << ", " << point.bytes << " bytes, " << point.operations()
            << " operations of each thread, " << order.rounds << " paired rounds, results "
            << (right ? "verified" : "WRONG") << "; ratios of rates\n\n"
            << table.text(order.markdown) << '\n'
            << std::flush;
  return right;
}

std::vector<Point> points_of(const Order& order) {
  std::vector<Point> points;
  for (const Kind kind : {Kind::put, Kind::get}) {
    for (const uint64_t bytes : order.bytes) points.push_back({kind, bytes});
  }
  points.push_back({Kind::add, sizeof(uint64_t)});
  return points;
}

/// Collective. Whether all results were right.
Result<bool> run_all(Context& ctx, const Order& order) {
  const uint64_t most_threads = std::ranges::max(order.threads);
  std::vector<injection_context> own;
  for (uint64_t i = 0; ctx.rank_me() == kInitiator && i < most_threads; ++i) {
    STRIPLINE_ASSIGN_OR_RETURN(injection_context opened, injection_context::open(ctx));
    if (!opened.has_own_queue()) {
      std::fprintf(stderr, "warning: thread %llu has no queue of its own: %s\n",
                   static_cast<unsigned long long>(i), opened.why_shared().c_str());
    }
    own.push_back(std::move(opened));
  }
  bool right = true;
  for (const Point& point : points_of(order)) {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto area, ctx.new_symmetric_array<std::byte>(most_threads * point.stream_bytes()));
    if (ctx.rank_me() == kInitiator) {
      Work work(ctx, point, own, area);
      STRIPLINE_ASSIGN_OR_RETURN(const bool good, measure(ctx, order, work, point));
      right = right && good;
    }
    ctx.barrier();  // in which rank 1 serves
    ctx.delete_symmetric_array(area);
  }
  return right;
}

int run(const Order& order) {
  auto context = join_to_measure(thread_mode::injecting);
  if (!context.ok()) return report(context.error());
  if ((*context)->rank_n() != 2) {
    return report(Error(ErrorCode::invalid_argument,
                        "stripline-injection is measured between 2 ranks; start it with "
                        "'stripline-run -n 2'"));
  }
  const auto right = run_all(**context, order);
  if (!right.ok()) return report(right.error());
  return *right ? kExitOk : kExitVerification;
}

}  // namespace
}  // namespace stripline::suites::injection

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  CLI::App app("Measures what threads gain by contexts of their own.", "stripline-injection");
  stripline::suites::injection::Order order;
  app.add_option("--rounds", order.rounds, "paired batches of each variant")
      ->transform(stripline::whole_number(6, 100000))
      ->capture_default_str();
  app.add_option("--threads", order.threads, "that inject at a time, separated by commas")
      ->delimiter(',')
      ->transform(stripline::whole_number(1, 64))
      ->capture_default_str();
  app.add_option("--bytes", order.bytes, "of each put and get, separated by commas")
      ->delimiter(',')
      ->transform(stripline::whole_number(1, uint64_t{1} << 20))
      ->capture_default_str();
  app.add_flag("--json", order.json, "print one object per line");
  app.add_flag("--markdown", order.markdown, "print the tables as Markdown");
  if (const auto end = stripline::read_command_line(app, argc, argv)) return *end;
  return stripline::suites::injection::run(order);
}
