// Times of irregular updates and reads by the runtime: stripline run -n N -- stripline-irregular
// [BATCHES] [ITEMS]. Updates by UpdateEpoch, and reads by a GatherPlan that is made for each
// batch, within what is timed.
#include <optional>
#include <span>

#include <stripline/gather.h>
#include <stripline/shared_array.h>
#include <stripline/update.h>

#include "suites/compare/irregular_times.h"
#include "suites/harness/context_ranks.h"

namespace {

namespace harness = stripline::suites::harness;
using stripline::Context;
using stripline::suites::compare::Irregular;
using Table = stripline::shared_array<uint64_t, stripline::block_cyclic<>>;
using Plan = stripline::GatherPlan<uint64_t>;

class Ours final : public harness::ContextRanks {
 public:
  explicit Ours(Context& context) : ContextRanks(context), epoch_(context) {}
  ~Ours() { release(); }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;

  void prepare(uint64_t cells, std::span<const uint64_t> index) {
    release();
    table_ = harness::or_exit(Table::create(context_, cells * ranks(), {cells}));
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
    plan_.emplace(harness::or_exit(Plan::create(table_, index_)));
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

  stripline::UpdateEpoch<uint64_t, stripline::op_add> epoch_;
  Table table_;
  bool has_table_ = false;
  std::span<const uint64_t> index_;
  std::optional<Plan> plan_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto context = harness::or_exit(Context::init());
  Ours ours(*context);
  const size_t batches = harness::argument(argc, argv, 1, 9);
  const size_t items = harness::argument(argc, argv, 2, size_t{1} << 20U);
  return stripline::suites::compare::print_irregular_times(ours, items, batches, "ours") ? 0 : 1;
}
