#include "suites/kernels/kernels.h"

namespace stripline::suites {

std::vector<Benchmark> kernel_benchmarks() {
  return {matvec_benchmark(),
          transpose_benchmark(),
          triad_benchmark(),
          nas_bt_benchmark(),
          nas_cg_benchmark(),
          nas_ft_benchmark(),
          nas_is_benchmark(),
          nas_mg_benchmark(),
          nas_sp_benchmark(),
          prk_sparse_benchmark(),
          prk_stencil_benchmark(),
          prk_transpose_benchmark(),
          spmv_benchmark(),
          serial_tax_benchmark(),
          analysis_benchmark(),
          shared_histogram_benchmark(),
          spread_force_benchmark(),
          histogram_benchmark(),
          gups_benchmark(),
          index_gather_benchmark(),
          permutation_benchmark(),
          indirect_sum_benchmark(),
          struct_reads_benchmark(),
          sobel_benchmark(),
          fish_benchmark(),
          wator_benchmark(),
          guppie_benchmark(),
          mcop_benchmark(),
          barnes_benchmark(),
          psearch_benchmark(),
          cfd_benchmark(),
          strided_reads_benchmark(),
          phases_benchmark(),
          sparse_cg_benchmark(),
          earthquake_benchmark(),
          molecules_benchmark(),
          gravitation_benchmark(),
          fiber_force_benchmark(),
          triangle_count_benchmark(),
          tile_benchmark()};
}

}  // namespace stripline::suites
