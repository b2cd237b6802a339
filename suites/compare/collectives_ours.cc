// Times of the runtime's collective operations: stripline run -n N -- stripline-collectives [REPS
// [segment]].
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <stripline/team.h>

#include "suites/compare/collective_times.h"
#include "suites/join_to_measure.h"

namespace {

using stripline::op_add;
using stripline::suites::compare::kTimedBytes;
using stripline::suites::compare::TimedCollective;

class Ours {
 public:
  /// `segment`: in the shared segment, where peers can put; else in private memory.
  Ours(stripline::Context& context, bool segment)
      : context_(context), all_(stripline::team::world(context)) {
    const size_t count = kTimedBytes.back() / sizeof(double) * ranks();
    if (!segment) {
      private_.resize(2 * count);
      memory_ = private_;
      return;
    }
    const auto array = context.new_symmetric_array<double>(2 * count);
    if (!array.ok()) {
      std::exit(stripline::report(array.error()));  // NOLINT(concurrency-mt-unsafe): one thread
    }
    memory_ = {context.local(*array), 2 * count};
  }

  size_t rank() const { return all_.rank_me(); }
  size_t ranks() const { return all_.rank_n(); }
  double now_s() { return context_.now_s(); }
  std::span<double> input() { return memory_.first(memory_.size() / 2); }
  std::span<double> output() { return memory_.last(memory_.size() / 2); }
  void barrier() { context_.barrier(); }

  void perform(TimedCollective operation, std::span<double> in, std::span<double> out,
               size_t elements) {
    const std::span<double> mine = in.first(elements);
    switch (operation) {
      case TimedCollective::barrier:
        return context_.barrier();
      case TimedCollective::broadcast:
        return all_.broadcast(mine, 0);
      case TimedCollective::reduce:
        return all_.reduce(mine, out.first(elements), op_add{}, 0);
      case TimedCollective::allreduce:
        return all_.allreduce(mine, out.first(elements), op_add{});
      case TimedCollective::gather:
        return all_.gather(mine, out, 0);
      case TimedCollective::allgather:
        return all_.allgather(mine, out);
      case TimedCollective::all_to_all:
        return all_.all_to_all(in, out);
      case TimedCollective::scan:
        return all_.inclusive_scan(mine, out.first(elements), op_add{});
    }
  }

  void longest(std::span<double> times) { all_.reduce(times, times, stripline::op_max{}, 0); }

 private:
  stripline::Context& context_;
  stripline::team all_;
  std::vector<double> private_;
  std::span<double> memory_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto context = stripline::suites::join_to_measure();
  if (!context.ok()) return stripline::report(context.error());
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 500;
  Ours ours(**context, argc > 2 && std::string_view(argv[2]) == "segment");
  return stripline::suites::compare::print_collective_times(ours, repetitions, "ours") ? 0 : 1;
}
