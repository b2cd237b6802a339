// Times of the runtime's collective operations: stripline run -n N -- stripline-collectives [REPS
// [segment]].
#include <span>
#include <string_view>
#include <vector>

#include <stripline/team.h>

#include "suites/compare/collective_times.h"
#include "suites/harness/context_ranks.h"
#include "suites/join_to_measure.h"

namespace {

namespace harness = stripline::suites::harness;
using stripline::op_add;
using stripline::suites::compare::kTimedBytes;
using stripline::suites::compare::TimedCollective;

class Ours final : public harness::ContextRanks {
 public:
  /// `segment`: in the shared segment, where peers can put; else in private memory.
  Ours(stripline::Context& context, bool segment) : ContextRanks(context) {
    const size_t count = kTimedBytes.back() / sizeof(double) * ranks();
    if (segment) {
      const auto array = harness::or_exit(context.new_symmetric_array<double>(2 * count));
      memory_ = {context.local(array), 2 * count};
    } else {
      private_.resize(2 * count);
      memory_ = private_;
    }
  }

  std::span<double> input() { return memory_.first(memory_.size() / 2); }
  std::span<double> output() { return memory_.last(memory_.size() / 2); }

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

 private:
  std::vector<double> private_;
  std::span<double> memory_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto context = harness::or_exit(stripline::suites::join_to_measure());
  Ours ours(*context, argc > 2 && std::string_view(argv[2]) == "segment");
  const size_t repetitions = harness::argument(argc, argv, 1, 500);
  return stripline::suites::compare::print_collective_times(ours, repetitions, "ours") ? 0 : 1;
}
