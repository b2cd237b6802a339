// Times of the runtime's collective operations: stripline run -n N -- stripline-collectives [REPS].
#include <cstdlib>
#include <memory>
#include <span>

#include <stripline/team.h>

#include "suites/compare/collective_times.h"

namespace {

using stripline::op_add;
using stripline::suites::compare::TimedCollective;

class Ours {
 public:
  explicit Ours(stripline::Context& context)
      : context_(context), all_(stripline::team::world(context)) {}

  size_t rank() const { return all_.rank_me(); }
  size_t ranks() const { return all_.rank_n(); }
  double now_s() { return context_.now_s(); }
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
};

}  // namespace

int main(int argc, char** argv) {
  const auto context = stripline::Context::init();
  if (!context.ok()) return stripline::report(context.error());
  Ours ours(**context);
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 500;
  return stripline::suites::compare::print_collective_times(ours, repetitions, "ours") ? 0 : 1;
}
