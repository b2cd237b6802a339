// Times of the runtime's sparse matrix-vector product: stripline run -n N -- stripline-spmv BATCHES
// ROWS [FILE...]. With the method that the model says for each pair of ranks, and with either of
// them for all.
#include <array>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stripline/shared_array.h>
#include <stripline/sparse_matrix.h>
#include <stripline/team.h>

#include "suites/compare/spmv_times.h"

namespace {

using stripline::block_cyclic;
using stripline::Context;
using stripline::GatherMethod;
using stripline::shared_array;
using stripline::SparseMatrix;
using stripline::suites::compare::spmv_block;
using stripline::suites::compare::SpmvPart;

class Gathers {
 public:
  Gathers(Context& context, GatherMethod method)
      : context_(context), all_(stripline::team::world(context)), method_(method) {}
  ~Gathers() { release(); }
  Gathers(const Gathers&) = delete;
  Gathers& operator=(const Gathers&) = delete;

  size_t rank() const { return all_.rank_me(); }
  size_t ranks() const { return all_.rank_n(); }
  double now_s() { return context_.now_s(); }
  void barrier() { context_.barrier(); }
  void longest(std::span<double> times) { all_.reduce(times, times, stripline::op_max{}, 0); }

  void prepare(const SpmvPart& part) {
    release();
    x_ = or_exit(shared_array<double, block_cyclic<>>::create(
        context_, part.all_rows, {spmv_block(part.all_rows, ranks())}));
    matrix_.emplace(or_exit(SparseMatrix<double>::create(x_, part.rows.begin, part.rows.column,
                                                         part.rows.value, {.method = method_})));
  }
  std::span<double> vector() { return x_.local_span(); }
  void multiply(std::span<double> y) { matrix_->multiply(x_, y); }

 private:
  template <typename T>
  static T or_exit(stripline::Result<T> result) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    if (!result.ok()) std::exit(stripline::report(result.error()));
    return std::move(*result);
  }
  void release() {
    if (!matrix_) return;
    matrix_.reset();
    context_.barrier();
    x_.destroy();
  }

  Context& context_;
  stripline::team all_;
  GatherMethod method_;
  shared_array<double, block_cyclic<>> x_;
  std::optional<SparseMatrix<double>> matrix_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto context = Context::init();
  if (!context.ok()) return stripline::report(context.error());
  const int batches = argc > 1 ? std::atoi(argv[1]) : 30;
  const uint64_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 65536;
  const std::vector<std::string> files(argv + std::min(argc, 3), argv + argc);
  const auto parts = stripline::suites::compare::spmv_parts((*context)->rank_me(),
                                                            (*context)->rank_n(), rows, files);
  bool right = true;
  for (const auto& [name, method] :
       {std::pair{"ours", GatherMethod::best}, std::pair{"ours, pack", GatherMethod::pack},
        std::pair{"ours, bound", GatherMethod::bound}}) {
    Gathers gathers(**context, method);
    right = stripline::suites::compare::print_spmv_times(gathers, parts, batches, name) && right;
  }
  return right ? 0 : 1;
}
