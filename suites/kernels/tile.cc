// kernel.tile: a loop nest over a tile of another rank's matrix, by rows or by columns.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <stripline/nest.h>
#include <stripline/vis.h>

#include "optimizer/plan/vis.h"
#include "suites/grids.h"
#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/strided_variants.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr const char* kRowsFactor = "rows";
constexpr const char* kColsFactor = "cols";
constexpr const char* kPitchFactor = "pitch";
constexpr const char* kOrderFactor = "order";
constexpr const char* kFlopsFactor = "flops";

constexpr std::array<VisMethod, 4> kMethods = {VisMethod::pipelined, VisMethod::native_iov,
                                               VisMethod::packed, VisMethod::bounding_box};

std::string name_of(VisMethod method) { return std::string(to_string(method)); }

struct Shape {
  size_t rows = 0;
  size_t cols = 0;
  size_t pitch = 0;         ///< elements from one row of the matrix to the next
  bool by_columns = false;  ///< the outer loop goes along a row
  bool puts = false;
  size_t flops = 0;  ///< of an element

  size_t elements() const { return rows * cols; }
  size_t outer() const { return by_columns ? cols : rows; }
  size_t inner() const { return by_columns ? rows : cols; }
};

Result<Shape> shape_of(const experiment::Point& point) {
  Shape shape;
  shape.rows = size_param(point, kRowsFactor);
  shape.cols = size_param(point, kColsFactor);
  shape.pitch = size_param(point, kPitchFactor);
  shape.by_columns = experiment::text_param(point, kOrderFactor) == "columns";
  shape.puts = experiment::text_param(point, experiment::factor::kDirection) == "put";
  shape.flops = size_param(point, kFlopsFactor);
  if (shape.pitch < shape.cols) {
    return Error(ErrorCode::invalid_argument,
                 "pitch=" + std::to_string(shape.pitch) + " is less than cols=" +
                     std::to_string(shape.cols) + ": rows of the matrix would overlap");
  }
  return shape;
}

// What the body computes with an element: `flops` operations that leave it as it is, which the
// compiler does not know.
struct Body {
  double one = 1;
  double zero = 0;
  size_t rounds = 0;  // of a multiplication and an addition

  double operator()(double value) const {
    for (size_t i = 0; i < rounds; ++i) value = value * one + zero;
    return value;
  }
};

// The tile of one rank, and the dense array on the other side: element (i, j) of the tile is
// element number i * cols + j of the array, or j * rows + i where the outer loop goes along a row.
class Tile : public CountedWork {
 public:
  Tile(Context& context, const Shape& shape, const SymmetricMemory<double>& matrix)
      : context_(context),
        shape_(shape),
        owner_((context.rank_me() + 1) % context.rank_n()),
        matrix_(matrix.here()),
        remote_(matrix.on(owner_)),
        dense_(matrix.here() + matrix_elements(shape)),
        dense_pointer_(matrix.on(context.rank_me()) +
                       static_cast<std::ptrdiff_t>(matrix_elements(shape))),
        moved_(shape.elements()) {
    body_.rounds = shape.flops / 2;
    count_work(context.work());
  }

  static size_t matrix_elements(const Shape& shape) {
    return (shape.rows - 1) * shape.pitch + shape.cols;
  }

  void fill(uint64_t salt) {
    std::fill_n(matrix_, matrix_elements(shape_), kGap);
    for (size_t i = 0; i < shape_.rows; ++i) {
      for (size_t j = 0; j < shape_.cols; ++j) {
        (shape_.puts ? dense_[dense_index(i, j)] : matrix_[i * shape_.pitch + j]) =
            value(context_.rank_me(), i, j, salt);
        if (!shape_.puts) dense_[dense_index(i, j)] = kGap;
      }
    }
  }

  bool verify(uint64_t salt) const {
    // What is put into a rank's matrix comes from the rank before it.
    const rank_t from =
        shape_.puts ? (context_.rank_me() + context_.rank_n() - 1) % context_.rank_n() : owner_;
    for (size_t i = 0; i < shape_.rows; ++i) {
      for (size_t j = 0; j < shape_.cols; ++j) {
        const double found =
            shape_.puts ? matrix_[i * shape_.pitch + j] : dense_[dense_index(i, j)];
        if (found != value(from, i, j, salt)) return false;
      }
    }
    if (!shape_.puts) return true;
    for (size_t i = 0; i + 1 < shape_.rows; ++i) {
      for (size_t j = shape_.cols; j < shape_.pitch; ++j) {
        if (matrix_[i * shape_.pitch + j] != kGap) return false;
      }
    }
    return true;
  }

  // Strided calls for `pieces` parts of the outer loop, all of which are in flight at once.
  void by_hand(size_t pieces, const VisOptions& options) {
    pieces = std::min(pieces, shape_.outer());
    in_flight_.clear();
    if (!shape_.puts) {
      for (size_t piece = 0; piece < pieces; ++piece) {
        in_flight_.push_back(move(begin_of(piece, pieces), begin_of(piece + 1, pieces), options));
      }
    }
    for (size_t piece = 0; piece < pieces; ++piece) {
      const size_t begin = begin_of(piece, pieces);
      const size_t end = begin_of(piece + 1, pieces);
      if (!shape_.puts) in_flight_[piece].wait();
      compute(begin, end);
      if (shape_.puts) in_flight_.push_back(move(begin, end, options));
    }
    if (shape_.puts) wait_all(in_flight_);
  }

  NestPlan by_nest(const NestOptions& options) {
    const auto [outer, inner] = loop_indices<2>();
    const auto pitch = static_cast<int64_t>(shape_.pitch);
    const auto width = static_cast<int64_t>(shape_.inner());
    const size_t counts[] = {shape_.outer(), shape_.inner()};  // NOLINT(*-c-arrays)
    const auto body = [this](const double& in, double& out) { out = body_(in); };
    const auto dense = outer * width + inner;
    const auto run = [&](const auto& tile) {
      return shape_.puts ? for_nest(context_, counts, options, body, read(dense_pointer_, dense),
                                    write(remote_, tile))
                         : for_nest(context_, counts, options, body, read(remote_, tile),
                                    write(dense_pointer_, dense));
    };
    return shape_.by_columns ? run(inner * pitch + outer) : run(outer * pitch + inner);
  }

 private:
  static constexpr double kGap = -1;

  static double value(rank_t rank, size_t i, size_t j, uint64_t salt) {
    return static_cast<double>(rank + 7 * i + 1021 * j + salt);
  }
  size_t dense_index(size_t i, size_t j) const {
    return shape_.by_columns ? j * shape_.rows + i : i * shape_.cols + j;
  }
  size_t begin_of(size_t piece, size_t pieces) const { return shape_.outer() * piece / pieces; }

  // Between the tile and `moved_`, where a piece lies as the outer loop goes.
  future move(size_t begin, size_t end, const VisOptions& options) {
    constexpr auto kBytes = static_cast<std::ptrdiff_t>(sizeof(double));
    const auto pitch = static_cast<std::ptrdiff_t>(shape_.pitch);
    const size_t width = end - begin;
    const std::ptrdiff_t first = shape_.by_columns ? static_cast<std::ptrdiff_t>(begin)
                                                   : static_cast<std::ptrdiff_t>(begin) * pitch;
    const size_t cols = shape_.by_columns ? width : shape_.cols;
    const std::array<size_t, 2> extents{cols, shape_.by_columns ? shape_.rows : width};
    const std::array<std::ptrdiff_t, 2> far{kBytes, pitch * kBytes};
    const std::array<std::ptrdiff_t, 2> near{kBytes, static_cast<std::ptrdiff_t>(cols) * kBytes};
    double* const at = moved_.data() + begin * shape_.inner();
    return shape_.puts
               ? rput_strided<2>(context_, at, near, remote_ + first, far, extents, options)
               : rget_strided<2>(context_, remote_ + first, far, at, near, extents, options);
  }

  // Between `moved_` and the dense array.
  void compute(size_t begin, size_t end) {
    const size_t width = end - begin;
    const size_t inner = shape_.inner();
    double* const moved = moved_.data() + begin * inner;
    double* const dense = dense_ + begin * inner;
    for (size_t i = 0; i < width; ++i) {
      for (size_t j = 0; j < inner; ++j) {
        double& there = moved[shape_.by_columns ? j * width + i : i * inner + j];
        double& here = dense[i * inner + j];
        (shape_.puts ? there : here) = body_(shape_.puts ? here : there);
      }
    }
    did(width * inner, static_cast<double>(shape_.flops), 2.0 * sizeof(double));
  }

  Context& context_;
  Shape shape_;
  rank_t owner_;
  double* matrix_;
  global_ptr<double> remote_;
  double* dense_;
  global_ptr<double> dense_pointer_;
  AlignedBuffer<double> moved_;
  std::vector<future> in_flight_;
  Body body_;
};

// How often a strided call is divided, and by which method it is carried out.
struct Manner {
  size_t pieces = 1;
  VisOptions transfers;
};

Result<Manner> manner_of(const experiment::Point& point, Variant variant, const Shape& shape) {
  Manner manner;
  manner.transfers.use_model = false;
  manner.pieces = size_param(point, kPiecesFactor);
  if (manner.pieces != 1 && variant != Variant::hand && variant != Variant::forced) {
    return Error(ErrorCode::invalid_argument, "only variants 'hand' and 'forced' take pieces");
  }
  const std::string name = *experiment::text_param(point, kMethodFactor);
  const auto* const method = std::ranges::find(kMethods, name, name_of);
  if (variant != Variant::forced) {
    if (method == kMethods.begin()) return manner;
    return Error(ErrorCode::invalid_argument, "only variant 'forced' takes a method");
  }
  if (*method == VisMethod::bounding_box && shape.puts) {
    return Error(ErrorCode::invalid_argument,
                 "a put has no bounding box, which would overwrite what lies between the rows");
  }
  manner.transfers.method = *method;
  manner.transfers.bounding_box = *method == VisMethod::bounding_box;
  return manner;
}

Result<SampleSeries> run_tile(Session& session, const experiment::Point& point,
                              const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const Variant variant = variant_of(point);
  STRIPLINE_ASSIGN_OR_RETURN(const Shape shape, shape_of(point));
  STRIPLINE_ASSIGN_OR_RETURN(const Manner manner, manner_of(point, variant, shape));
  STRIPLINE_RETURN_IF_ERROR(check_model(ctx, variant));
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto memory,
      SymmetricMemory<double>::create(ctx, Tile::matrix_elements(shape) + shape.elements()));
  Tile tile(ctx, shape, memory);
  NestOptions options;
  options.loop.n_local_ref = 1;
  options.loop.n_fp_alu = static_cast<uint32_t>(shape.flops);
  options.local_bytes = shape.elements() * sizeof(double);
  options.use_model = variant != Variant::untuned;
  options.self_check = variant == Variant::guarded;
  const bool by_nest =
      variant == Variant::untuned || variant == Variant::tuned || variant == Variant::guarded;
  std::optional<const NestPlan> plan;  // of the latest execution

  KernelParts parts;
  parts.prepare = [&](uint64_t salt) { tile.fill(salt); };
  parts.run = [&] {
    if (by_nest) {
      plan.emplace(tile.by_nest(options));
    } else {
      tile.by_hand(manner.pieces, manner.transfers);
    }
  };
  parts.verify = [&](uint64_t salt) { return tile.verify(salt); };
  const VisCounts counts(ctx);
  SampleSeries series = measure_kernel(session, rule, parts);
  series.note =
      !series.verified ? kWrongResult
      : by_nest
          ? plan_text(*plan) + "\n" + claim_text(plan->reason, {plan->gain_low, plan->baseline_s})
          : "strided calls in " + std::to_string(manner.pieces) + " pieces: " + counts.text();
  return series;
}

experiment::Factor method_factor() {
  std::vector<experiment::ParamValue> names;
  for (const VisMethod one : kMethods) names.emplace_back(name_of(one));
  return name_factor(kMethodFactor,
                     "Variant forced: how strided calls are carried out, with the settings that "
                     "are used without a model.",
                     std::move(names));
}

}  // namespace

Benchmark tile_benchmark() {
  return declare(
      {.known = kernels::kTile,
       .run = run_tile,
       .title = "Loop nest over a tile of another rank's matrix",
       .description =
           "Every rank makes a dense array from a tile of the next rank's matrix of doubles (get), "
           "or such a tile from a dense array (put), by rows, or transposing by columns, with some "
           "operations on each element. By hand: one strided call, waited for before anything is "
           "computed (blocking), or several, for parts of the outer loop, all of which are in "
           "flight while their turn comes (hand, and forced, by a given method). Or it is a loop "
           "nest that the runtime carries out without a model (untuned), or with the context's "
           "model (tuned, and guarded, which gives up plans that lose).",
       .factors = {integer_factor(kRowsFactor, "1", "Rows of the tile.", {64, 8, 512}, 1, 1 << 14),
                   integer_factor(kColsFactor, "1", "Columns of the tile.", {64, 8, 512}, 1,
                                  1 << 14),
                   integer_factor(kPitchFactor, "1",
                                  "Elements from one row of the matrix to the next.", {1024}, 1,
                                  1 << 15),
                   name_factor(kOrderFactor, "What the outer loop counts.", {"rows", "columns"}),
                   name_factor(experiment::factor::kDirection,
                               "Whether the tile is read or written.", {"get", "put"}),
                   integer_factor(kFlopsFactor, "1", "Operations on an element, an even number.",
                                  {2, 32}, 0, 1024),
                   method_factor(),
                   integer_factor(
                       kPiecesFactor, "1",
                       "Variants hand and forced: parts of the outer loop, each moved by a call.",
                       {1, 2, 4, 8, 16, 32}, 1, 1 << 14)},
       .metric = {"time", "s", true},
       .verification = "Every element is compared with its closed form, with the gaps of a put, in "
                       "every repetition; the data change between repetitions."});
}

}  // namespace stripline::suites
