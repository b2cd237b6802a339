// Kernels: what users run, in every variant that the tuned runtime is compared with.
#pragma once

#include "suites/registry.h"

namespace stripline::suites {

Benchmark matvec_benchmark();
Benchmark transpose_benchmark();
Benchmark triad_benchmark();
Benchmark tile_benchmark();
Benchmark prk_stencil_benchmark();
Benchmark prk_transpose_benchmark();
Benchmark prk_sparse_benchmark();
Benchmark nas_cg_benchmark();
Benchmark nas_ft_benchmark();
Benchmark nas_is_benchmark();
Benchmark serial_tax_benchmark();
Benchmark nas_mg_benchmark();
Benchmark nas_sp_benchmark();
Benchmark nas_bt_benchmark();
Benchmark spmv_benchmark();
Benchmark analysis_benchmark();
Benchmark shared_histogram_benchmark();
Benchmark spread_force_benchmark();
Benchmark histogram_benchmark();
Benchmark gups_benchmark();
Benchmark index_gather_benchmark();
Benchmark permutation_benchmark();
Benchmark gravitation_benchmark();
Benchmark fiber_force_benchmark();
Benchmark triangle_count_benchmark();
Benchmark indirect_sum_benchmark();
Benchmark struct_reads_benchmark();
Benchmark sobel_benchmark();
Benchmark fish_benchmark();
Benchmark wator_benchmark();
Benchmark guppie_benchmark();
Benchmark mcop_benchmark();
Benchmark barnes_benchmark();
Benchmark psearch_benchmark();
Benchmark cfd_benchmark();
Benchmark strided_reads_benchmark();
Benchmark phases_benchmark();
Benchmark sparse_cg_benchmark();
Benchmark earthquake_benchmark();
Benchmark molecules_benchmark();

}  // namespace stripline::suites
