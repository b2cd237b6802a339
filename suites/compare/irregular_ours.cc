// Times of irregular updates and reads by the runtime: stripline run -n N -- stripline-irregular
// [BATCHES] [ITEMS]. Updates by UpdateEpoch, and reads by a GatherPlan that is made for each
// batch, within what is timed.
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>

#include <stripline/gather.h>
#include <stripline/shared_array.h>
#include <stripline/team.h>
#include <stripline/update.h>

#include "suites/compare/irregular_times.h"

namespace {

using stripline::Context;
using stripline::suites::compare::Irregular;
using Table = stripline::shared_array<uint64_t, stripline::block_cyclic<>>;
using Plan = stripline::GatherPlan<uint64_t>;

template <typename T>
T or_exit(stripline::Result<T> result) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (!result.ok()) std::exit(stripline::report(result.error()));
  return std::move(*result);
}

class Ours {
 public:
  explicit Ours(Context& context)
      : context_(context), all_(stripline::team::world(context)), epoch_(context) {}
  ~Ours() { release(); }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;

  size_t rank() const { return all_.rank_me(); }
  size_t ranks() const { return all_.rank_n(); }
  double now_s() { return context_.now_s(); }
  void barrier() { context_.barrier(); }
  void longest(std::span<double> times) { all_.reduce(times, times, stripline::op_max{}, 0); }

  void prepare(uint64_t cells, std::span<const uint64_t> index) {
    release();
    table_ = or_exit(Table::create(context_, cells * ranks(), {cells}));
    has_table_ = true;
    index_ = index;
  }
  std::span<uint64_t> table() { return table_.local_span(); }

  void begin(Irregular /*operation*/) {}
  void histogram() {
    const auto cells = epoch_.into(table_);
    for (const uint64_t cell : index_) cells.update(cell, 1);
    epoch_.end();
  }
  void gather(std::span<uint64_t> result) {
    plan_.emplace(or_exit(Plan::create(table_, index_)));
    plan_->for_each(table_, [result](size_t i, uint64_t value) { result[i] = value; });
  }
  void end() { plan_.reset(); }

 private:
  void release() {
    if (!has_table_) return;
    context_.barrier();
    table_.destroy();
    has_table_ = false;
  }

  Context& context_;
  stripline::team all_;
  stripline::UpdateEpoch<uint64_t, stripline::op_add> epoch_;
  Table table_;
  bool has_table_ = false;
  std::span<const uint64_t> index_;
  std::optional<Plan> plan_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto context = Context::init();
  if (!context.ok()) return stripline::report(context.error());
  const int batches = argc > 1 ? std::atoi(argv[1]) : 9;
  const size_t items = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : size_t{1} << 20U;
  Ours ours(**context);
  return stripline::suites::compare::print_irregular_times(ours, items, batches, "ours") ? 0 : 1;
}
