// kernel.triangle_count: how many triangles a graph has whose vertices are dealt out to the ranks.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/team.h>
#include <stripline/update.h>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/owner_buckets.h"
#include "suites/kernels/symmetric_memory.h"
#include "suites/kernels/update_variants.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr const char* kVerticesFactor = "vertices";
constexpr const char* kEdgesFactor = "edges_per_vertex";

/// A graph with hubs: every vertex has edges to lower ones, most of them to the lowest.
class Graph {
 public:
  Graph(uint32_t vertices, size_t edges) : rows_(vertices) {
    for (uint32_t v = 1; v < vertices; ++v) {
      std::vector<uint32_t>& row = rows_[v];
      for (size_t k = 0; k < edges; ++k) {
        const double part = static_cast<double>(mix64(hash_of(v, k)) >> 11U) * 0x1p-53;
        row.push_back(static_cast<uint32_t>(part * part * v));
      }
      std::ranges::sort(row);
      row.erase(std::unique(row.begin(), row.end()), row.end());
    }
  }

  uint32_t vertices() const { return static_cast<uint32_t>(rows_.size()); }
  /// The neighbours below a vertex, ascending.
  std::span<const uint32_t> row(uint32_t vertex) const { return rows_[vertex]; }
  bool has_edge(uint32_t high, uint32_t low) const {
    return std::ranges::binary_search(rows_[high], low);
  }

 private:
  std::vector<std::vector<uint32_t>> rows_;
};

/// Two edges from one vertex down to two others, which a third edge may close.
struct Wedge {
  uint32_t high;
  uint32_t low;
};

/// The vertices of a rank, and their wedges: vertex v is rank v % ranks', there the v / ranks-th.
class Share {
 public:
  Share(const Graph& graph, rank_t me, rank_t ranks, UpdateVariant variant)
      : graph_(graph), me_(me), ranks_(ranks) {
    size_t all = 0;
    for (uint32_t v = me; v < graph.vertices(); v += ranks) {
      const size_t degree = graph.row(v).size();
      all += degree * (degree - 1) / 2;
    }
    wedges_ = updates_made(variant, all);
  }

  size_t wedges() const { return wedges_; }
  rank_t owner(uint32_t vertex) const { return vertex % ranks_; }
  /// Where a vertex' cells begin, one for each lower vertex.
  size_t first_cell(uint32_t vertex) const {
    const size_t rows = vertex / ranks_;
    return rows * (vertex % ranks_) + ranks_ * (rows * (rows - 1) / 2);
  }
  /// Cells of any rank, at most.
  size_t cells() const {
    const uint32_t rows = (graph_.vertices() + ranks_ - 1) / ranks_;
    return first_cell(rows * ranks_ + ranks_ - 1);
  }

  /// Calls edge(v, high, lows) for each edge from a vertex of this rank that closes wedges with
  /// `lows`, neighbours of v as well, below `high`.
  template <typename Edge>
  void each_edge(const Edge& edge) const {
    size_t left = wedges_;
    for (uint32_t v = me_; v < graph_.vertices() && left > 0; v += ranks_) {
      const std::span<const uint32_t> row = graph_.row(v);
      for (size_t k = 1; k < row.size() && left > 0; ++k) {
        const size_t count = std::min(k, left);
        edge(row[k], row.first(count));
        left -= count;
      }
    }
  }

  /// What each_edge() finds by a graph that is here as a whole.
  uint64_t triangles() const {
    uint64_t found = 0;
    each_edge([&](uint32_t high, std::span<const uint32_t> lows) {
      for (const uint32_t low : lows) found += graph_.has_edge(high, low) ? 1 : 0;
    });
    return found;
  }

 private:
  const Graph& graph_;
  rank_t me_;
  rank_t ranks_;
  size_t wedges_ = 0;
};

/// Counts this rank's part of the triangles. Made collectively.
class Counting {
 public:
  static Result<Counting> create(Context& context, const Graph& graph, const Share& share,
                                 UpdateVariant variant, const UpdateOptions& options) {
    std::optional<SymmetricMemory<uint32_t>> cells;
    if (variant == UpdateVariant::tuned || variant == UpdateVariant::atomics) {
      STRIPLINE_ASSIGN_OR_RETURN(auto table,
                                 SymmetricMemory<uint32_t>::create(context, share.cells()));
      cells.emplace(std::move(table));
    }
    // Where each row of this rank ends, then the rows themselves, for who reads them by gets.
    size_t edges = 0;
    for (uint32_t v = context.rank_me(); v < graph.vertices(); v += context.rank_n()) {
      edges += graph.row(v).size();
    }
    const auto most = context.reduce_all(static_cast<uint64_t>(edges), Context::ReduceOp::max);
    const uint32_t rows = graph.vertices() / context.rank_n() + 1;
    STRIPLINE_ASSIGN_OR_RETURN(auto memory,
                               SymmetricMemory<uint32_t>::create(context, rows + 1 + most));
    return Counting(context, graph, share, variant, options, std::move(cells), std::move(memory));
  }

  void clear() {
    if (cells_) std::fill_n(cells_->here(), share_->cells(), 0U);
  }

  /// Collective. The triangles that this rank found, or whose cells it has.
  uint64_t run() {
    switch (variant_) {
      case UpdateVariant::atomics:
        share_->each_edge([this](uint32_t high, std::span<const uint32_t> lows) {
          const auto cells = row_of(high);
          for (const uint32_t low : lows) atomics_.add(cells + low, 1);
        });
        context_->barrier();
        return closed();
      case UpdateVariant::tuned:
        share_->each_edge([this](uint32_t high, std::span<const uint32_t> lows) {
          const auto cells = row_of(high);
          for (const uint32_t low : lows) epoch_.update(cells + low, 1);
        });
        epoch_.end();
        ++epochs_;
        return closed();
      case UpdateVariant::by_hand:
        return exchange();
      case UpdateVariant::naive:
      case UpdateVariant::lock:
      case UpdateVariant::sequential:
        break;
    }
    return fetch();
  }

  std::string note() const {
    return note_of_updates(epoch_.in_use(), epoch_.statistics(), epochs_);
  }

 private:
  Counting(Context& context, const Graph& graph, const Share& share, UpdateVariant variant,
           const UpdateOptions& options, std::optional<SymmetricMemory<uint32_t>> cells,
           SymmetricMemory<uint32_t> rows)
      : context_(&context),
        graph_(&graph),
        share_(&share),
        variant_(variant),
        cells_(std::move(cells)),
        rows_(std::move(rows)),
        atomics_(context),
        epoch_(context, options),
        buckets_(context) {
    uint32_t* end = rows_.here() + 1;
    const size_t own = graph.vertices() / context.rank_n() + 1;
    uint32_t* neighbour = rows_.here() + own + 1;
    uint32_t so_far = 0;
    for (uint32_t v = context.rank_me(); v < graph.vertices(); v += context.rank_n()) {
      so_far += static_cast<uint32_t>(graph.row(v).size());
      *end++ = so_far;
      neighbour = std::ranges::copy(graph.row(v), neighbour).out;
    }
    context.barrier();
  }

  global_ptr<uint32_t> row_of(uint32_t vertex) const {
    return cells_->on(share_->owner(vertex)) +
           static_cast<std::ptrdiff_t>(share_->first_cell(vertex));
  }

  // Wedges over this rank's edges.
  uint64_t closed() const {
    uint64_t found = 0;
    for (uint32_t v = context_->rank_me(); v < graph_->vertices(); v += context_->rank_n()) {
      const uint32_t* const cells = cells_->here() + share_->first_cell(v);
      for (const uint32_t low : graph_->row(v)) found += cells[low];
    }
    return found;
  }

  // Sends wedges to the owners of their higher vertices, who look whether they are closed.
  uint64_t exchange() {
    constexpr size_t kRound = size_t{1} << 16;
    uint64_t found = 0;
    const auto send = [&] {
      const auto owner_of = [this](const Wedge& wedge) { return share_->owner(wedge.high); };
      for (const Wedge& one : buckets_.send(wedges_, owner_of)) {
        found += graph_->has_edge(one.high, one.low) ? 1 : 0;
      }
      wedges_.clear();
    };
    const uint64_t most =
        context_->reduce_all(static_cast<uint64_t>(share_->wedges()), Context::ReduceOp::max);
    size_t sends = most / kRound + 1;
    share_->each_edge([&](uint32_t high, std::span<const uint32_t> lows) {
      for (const uint32_t low : lows) {
        wedges_.push_back({high, low});
        if (wedges_.size() < kRound) continue;
        send();
        --sends;
      }
    });
    for (; sends > 0; --sends) send();
    return found;
  }

  // Reads the row of each edge's lower end, and looks there.
  uint64_t fetch() {
    uint64_t found = 0;
    std::vector<uint32_t> row;
    const size_t own = graph_->vertices() / context_->rank_n() + 1;
    share_->each_edge([&](uint32_t high, std::span<const uint32_t> lows) {
      const auto rows = rows_.on(share_->owner(high));
      std::array<uint32_t, 2> ends{};
      const auto number = static_cast<std::ptrdiff_t>(high / context_->rank_n());
      context_->rget(rows + number, ends.data(), ends.size()).wait();
      row.resize(ends[1] - ends[0]);
      const auto first = rows + static_cast<std::ptrdiff_t>(own + 1 + ends[0]);
      if (!row.empty()) context_->rget(first, row.data(), row.size()).wait();
      for (const uint32_t low : lows) found += std::ranges::binary_search(row, low) ? 1 : 0;
    });
    context_->barrier();
    return found;
  }

  Context* context_;
  const Graph* graph_;
  const Share* share_;
  UpdateVariant variant_;
  std::optional<SymmetricMemory<uint32_t>> cells_;  // the table, where wedges are counted
  SymmetricMemory<uint32_t> rows_;
  atomic_domain<uint32_t> atomics_;
  UpdateEpoch<uint32_t, op_add> epoch_;
  OwnerBuckets<Wedge> buckets_;
  std::vector<Wedge> wedges_;
  uint64_t epochs_ = 0;
};

Result<SampleSeries> run_triangle_count(Session& session, const experiment::Point& point,
                                        const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const UpdateVariant variant = update_variant_of(point);
  STRIPLINE_ASSIGN_OR_RETURN(const UpdateOptions options, update_options_of(ctx, point));
  const Graph graph(static_cast<uint32_t>(size_param(point, kVerticesFactor)),
                    size_param(point, kEdgesFactor));
  const Share share(graph, ctx.rank_me(), ctx.rank_n(), variant);
  STRIPLINE_ASSIGN_OR_RETURN(Counting counting,
                             Counting::create(ctx, graph, share, variant, options));
  const team world = team::world(ctx);
  const uint64_t expected = world.allreduce(share.triangles(), op_add{});
  const uint64_t wedges = world.allreduce(uint64_t{share.wedges()}, op_add{});
  uint64_t found = 0;
  KernelParts parts;
  parts.prepare = [&](uint64_t /*salt*/) { counting.clear(); };
  parts.run = [&] { found = counting.run(); };
  parts.verify = [&](uint64_t /*salt*/) { return world.allreduce(found, op_add{}) == expected; };
  parts.scale = ctx.rank_n() / static_cast<double>(std::max<uint64_t>(wedges, 1));
  SampleSeries series = measure_kernel(session, rule, parts);
  series.note =
      series.verified ? counting.note() : "verification failed: the number of triangles is wrong";
  return series;
}

}  // namespace

Benchmark triangle_count_benchmark() {
  return declare(
      {.known = kernels::kTriangleCount,
       .run = run_triangle_count,
       .title = "Triangles of a graph over all ranks",
       .description =
           "Vertices are dealt out to the ranks, and each has edges to lower ones, most of them to "
           "few hubs. Two edges from a vertex down are a wedge, and a triangle if their ends are "
           "joined, which the owner of the higher end knows. naive reads the neighbours of that "
           "end, edge by edge; atomics counts wedges in a table of all pairs, which lies in rows "
           "at their owners, by an atomic_domain, and adds up the cells of edges; by_hand sends "
           "wedges with all_to_all_v, 65536 at a time; tuned counts in the table by UpdateEpoch. "
           "naive and atomics look at 1000 wedges a rank at most. A sample is the time of a rank, "
           "divided by the mean number of wedges of one.",
       .factors =
           joined({integer_factor(
                       kVerticesFactor, "1",
                       "Vertices of the graph. The table takes two bytes for each pair of them.",
                       {4096, 1024}, 2, 1 << 15),
                   integer_factor(kEdgesFactor, "1",
                                  "Edges of each vertex to lower ones, repeated ones included.",
                                  {16, 4}, 1, 1024)},
                  update_factors()),
       .metric = {"time_per_wedge", "s", true},
       .min_ranks = 1,
       .verification = "The number of triangles is compared with that which a search in the whole "
                       "graph finds, in every repetition."});
}

}  // namespace stripline::suites
