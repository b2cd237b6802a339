// Times of the runtime's sparse matrix-vector product: stripline run -n N -- stripline-spmv BATCHES
// ROWS [FILE...]. With the method that the model says for each pair of ranks, and with either of
// them for all.
#include <optional>
#include <span>
#include <utility>

#include <stripline/shared_array.h>
#include <stripline/sparse_matrix.h>

#include "suites/compare/spmv_times.h"
#include "suites/harness/context_ranks.h"

namespace {

namespace harness = stripline::suites::harness;
using stripline::block_cyclic;
using stripline::Context;
using stripline::GatherMethod;
using stripline::shared_array;
using stripline::SparseMatrix;
using stripline::suites::compare::spmv_block;
using stripline::suites::compare::SpmvPart;

class Gathers final : public harness::ContextRanks {
 public:
  Gathers(Context& context, GatherMethod method) : ContextRanks(context), method_(method) {}
  ~Gathers() { release(); }
  Gathers(const Gathers&) = delete;
  Gathers& operator=(const Gathers&) = delete;

  void prepare(const SpmvPart& part) {
    release();
    x_ = harness::or_exit(shared_array<double, block_cyclic<>>::create(
        context_, part.all_rows, {spmv_block(part.all_rows, ranks())}));
    matrix_.emplace(harness::or_exit(SparseMatrix<double>::create(
        x_, part.rows.begin, part.rows.column, part.rows.value, {.method = method_})));
  }
  std::span<double> vector() { return x_.local_span(); }
  void multiply(std::span<double> y) { matrix_->multiply(x_, y); }

 private:
  void release() {
    if (!matrix_) return;
    matrix_.reset();
    context_.barrier();
    x_.destroy();
  }

  GatherMethod method_;
  shared_array<double, block_cyclic<>> x_;
  std::optional<SparseMatrix<double>> matrix_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto context = harness::or_exit(Context::init());
  const stripline::suites::compare::SpmvOrder order(argc, argv);
  const auto parts = stripline::suites::compare::spmv_parts(context->rank_me(), context->rank_n(),
                                                            order.rows, order.files);
  bool right = true;
  for (const auto& [name, method] :
       {std::pair{"ours", GatherMethod::best}, std::pair{"ours, pack", GatherMethod::pack},
        std::pair{"ours, bound", GatherMethod::bound}}) {
    Gathers gathers(*context, method);
    right =
        stripline::suites::compare::print_spmv_times(gathers, parts, order.batches, name) && right;
  }
  return right ? 0 : 1;
}
