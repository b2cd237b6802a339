// kernel.barnes: gravitation by octrees (Barnes and Hut, Nature 324, 1986), whose nodes are read
// one number at a time (Chen, Optimizing PGAS Programs for Cluster Architectures, 2007, chapter 6).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "suites/kernels/indirect/indirect_variants.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

constexpr const char* kBodiesFactor = "bodies_per_rank";

constexpr size_t kAxes = 3;
using Vector = std::array<double, kAxes>;

struct Body {
  Vector place{};
  double mass = 0;
};

// The bodies of a rank are in a slice of space.
std::vector<Body> bodies_of(rank_t rank, rank_t ranks, size_t count, uint64_t salt) {
  SplitMix64 random(derive_seed(salt, rank));
  const auto unit = [&] { return static_cast<double>(random.next() >> 11U) * 0x1p-53; };
  std::vector<Body> bodies(count);
  for (Body& body : bodies) {
    for (double& coordinate : body.place) coordinate = unit();
    body.place[0] = (rank + body.place[0]) / ranks;
    body.mass = 1 + unit();
  }
  return bodies;
}

// The numbers of a node: where its mass is, how much, the side of its cube, the number of its first
// child, and of children. A node of one body has side 0 and no children.
constexpr size_t kPlace = 0;
constexpr size_t kMass = 3;
constexpr size_t kSide = 4;
constexpr size_t kFirst = 5;
constexpr size_t kChildren = 6;
constexpr size_t kNodeWords = 7;

// Each node with children has several, so that there are fewer than twice as many as bodies. The
// children of one follow each other; the root comes first.
class Octree {
 public:
  explicit Octree(std::vector<Body> bodies) : bodies_(std::move(bodies)), words_(kNodeWords) {
    build(0, bodies_, Cube());
  }
  const std::vector<double>& words() const { return words_; }

 private:
  struct Cube {
    Vector low{};
    double side = 1;
  };

  static size_t octant(const Body& body, const Cube& cube) {
    size_t number = 0;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      if (body.place[axis] >= cube.low[axis] + cube.side / 2) number |= size_t{1} << axis;
    }
    return number;
  }
  static Cube part(const Cube& cube, size_t number) {
    Cube one{cube.low, cube.side / 2};
    for (size_t axis = 0; axis < kAxes; ++axis) {
      if (((number >> axis) & 1) != 0) one.low[axis] += one.side;
    }
    return one;
  }

  void build(size_t node, std::span<Body> bodies, Cube cube) {
    constexpr double kSmallest = 0x1p-20;  // in which bodies are one
    const auto in_one_octant = [&] {
      return std::ranges::all_of(bodies, [&](const Body& one) {
        return octant(one, cube) == octant(bodies.front(), cube);
      });
    };
    while (bodies.size() > 1 && cube.side > kSmallest && in_one_octant()) {
      cube = part(cube, octant(bodies.front(), cube));
    }
    Body sum;
    for (const Body& one : bodies) {
      for (size_t axis = 0; axis < kAxes; ++axis) sum.place[axis] += one.mass * one.place[axis];
      sum.mass += one.mass;
    }
    const auto number = [&](size_t word) -> double& { return words_[node * kNodeWords + word]; };
    for (size_t axis = 0; axis < kAxes; ++axis) number(kPlace + axis) = sum.place[axis] / sum.mass;
    number(kMass) = sum.mass;
    if (bodies.size() == 1 || cube.side <= kSmallest) return;

    std::ranges::stable_sort(bodies, {}, [&](const Body& one) { return octant(one, cube); });
    std::vector<std::span<Body>> parts;
    for (size_t begin = 0; begin < bodies.size();) {
      size_t end = begin + 1;
      while (end < bodies.size() && octant(bodies[end], cube) == octant(bodies[begin], cube)) ++end;
      parts.push_back(bodies.subspan(begin, end - begin));
      begin = end;
    }
    const size_t first = words_.size() / kNodeWords;
    words_.resize((first + parts.size()) * kNodeWords);
    number(kSide) = cube.side;
    number(kFirst) = static_cast<double>(first);
    number(kChildren) = static_cast<double>(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      build(first + i, parts[i], part(cube, octant(parts[i].front(), cube)));
    }
  }

  std::vector<Body> bodies_;
  std::vector<double> words_;
};

void add_pull(const Vector& away, double square, double mass, Vector& force) {
  for (size_t axis = 0; axis < kAxes; ++axis) {
    force[axis] += mass * away[axis] / (square * std::sqrt(square));
  }
}

constexpr double kSoftening = 1e-4;  // added to squares of distances, so that bodies may meet
constexpr double kVisitFlops = 3 + 6 + 2 + 1 + 5 + 3;

// How a tree pulls at a body; returns the number of nodes that were looked at. word(node, number)
// is a number of a node, or will be one.
template <typename Word>
size_t pull_by_tree(const Body& body, const Word& word, Vector& force) {
  constexpr double kOpening = 0.4;  // smaller parts of its distance are a node as one body
  std::vector<size_t> left{0};
  size_t visits = 0;
  for (; !left.empty(); ++visits) {
    const size_t node = left.back();
    left.pop_back();
    // All are read before the first is used.
    const auto x = word(node, kPlace);
    const auto y = word(node, kPlace + 1);
    const auto z = word(node, kPlace + 2);
    const auto mass = word(node, kMass);
    const auto side = word(node, kSide);
    const Vector away = {x - body.place[0], y - body.place[1], z - body.place[2]};
    const double square = kSoftening + away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
    const double extent = side;
    if (extent * extent < kOpening * kOpening * square) {
      add_pull(away, square, mass, force);
      continue;
    }
    const auto first = word(node, kFirst);
    const auto children = word(node, kChildren);
    const auto begin = static_cast<size_t>(static_cast<double>(first));
    const auto end = begin + static_cast<size_t>(static_cast<double>(children));
    for (size_t child = begin; child < end; ++child) left.push_back(child);
  }
  return visits;
}

auto words_of(const std::vector<double>& tree) {
  return [&tree](size_t node, size_t number) { return tree[node * kNodeWords + number]; };
}

class Forces {
 public:
  Forces(Context& context, const SymmetricMemory<double>& trees, const experiment::Point& point,
         size_t capacity)
      : context_(context), trees_(trees), point_(point), capacity_(capacity) {}

  // Collective: builds the tree of own bodies, and pulls at them by the trees of all ranks.
  void run(const std::vector<Body>& bodies, std::vector<Vector>& forces) {
    const Octree tree(bodies);
    std::ranges::copy(tree.words(), trees_.here());
    trees_.here()[capacity_] = static_cast<double>(tree.words().size());
    context_.barrier();
    if (point_.variant == experiment::variant::kFineRegion) {
      fine_region fine(context_, fine_options_of(point_));
      pull(bodies, forces, [&](rank_t rank) {
        return [&fine, root = trees_.on(rank)](size_t node, size_t number) {
          return fine.read(number_of(root, node, number));
        };
      });
    } else if (point_.variant == experiment::variant::kByHand) {
      const std::vector<std::vector<double>> trees = fetch_all();
      pull(bodies, forces, [&](rank_t rank) { return words_of(trees[rank]); });
    } else {
      pull(bodies, forces, [&](rank_t rank) {
        return [this, root = trees_.on(rank)](size_t node, size_t number) {
          return context_.rget(number_of(root, node, number));
        };
      });
    }
  }

 private:
  static global_ptr<double> number_of(global_ptr<double> root, size_t node, size_t number) {
    return root + static_cast<std::ptrdiff_t>(node * kNodeWords + number);
  }

  template <typename WordsOf>
  void pull(const std::vector<Body>& bodies, std::vector<Vector>& forces, const WordsOf& words) {
    const rank_t ranks = context_.rank_n();
    for (size_t i = 0; i < bodies.size(); ++i) {
      size_t visits = 0;
      for (rank_t k = 0; k < ranks; ++k) {
        const rank_t rank = (context_.rank_me() + k) % ranks;
        visits += pull_by_tree(bodies[i], words(rank), forces[i]);
      }
      if (Work* const work = context_.work()) {
        work->compute(kVisitFlops * static_cast<double>(visits), 0);
      }
    }
  }

  std::vector<std::vector<double>> fetch_all() {
    const rank_t ranks = context_.rank_n();
    std::vector<double> sizes(ranks);
    std::vector<future> in_flight;
    for (rank_t rank = 0; rank < ranks; ++rank) {
      in_flight.push_back(
          context_.rget(trees_.on(rank) + static_cast<std::ptrdiff_t>(capacity_), &sizes[rank], 1));
    }
    wait_all(in_flight);
    in_flight.clear();
    std::vector<std::vector<double>> trees(ranks);
    for (rank_t rank = 0; rank < ranks; ++rank) {
      trees[rank].resize(static_cast<size_t>(sizes[rank]));
      in_flight.push_back(context_.rget(trees_.on(rank), trees[rank].data(), trees[rank].size()));
    }
    wait_all(in_flight);
    return trees;
  }

  Context& context_;
  const SymmetricMemory<double>& trees_;
  const experiment::Point& point_;
  const size_t capacity_;  // numbers of a tree; behind them is how many there are
};

Result<experiment::SampleSeries> run_barnes(Session& session, const experiment::Point& point,
                                            const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const rank_t me = ctx.rank_me();
  const rank_t ranks = ctx.rank_n();
  const size_t count = size_param(point, kBodiesFactor);
  const size_t capacity = 2 * count * kNodeWords;
  STRIPLINE_ASSIGN_OR_RETURN(const auto trees, SymmetricMemory<double>::create(ctx, capacity + 1));
  Forces kernel(ctx, trees, point, capacity);
  std::vector<Body> bodies;
  std::vector<Vector> forces;
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    bodies = bodies_of(me, ranks, count, salt);
    forces.assign(count, Vector{});
  };
  parts.run = [&] { kernel.run(bodies, forces); };
  parts.verify = [&](uint64_t salt) {
    std::vector<Octree> expected_trees;
    std::vector<Body> all;
    for (rank_t rank = 0; rank < ranks; ++rank) {
      const std::vector<Body> of_rank = bodies_of(rank, ranks, count, salt);
      all.insert(all.end(), of_rank.begin(), of_rank.end());
      expected_trees.emplace_back(of_rank);
    }
    // What reads see, but for how sums round, and what octrees are to find: nearly the same.
    constexpr double kRounding = 1e-9;
    constexpr double kAccuracy = 0.15;
    for (size_t i = 0; i < count; ++i) {
      Vector expected{};
      for (rank_t k = 0; k < ranks; ++k) {
        pull_by_tree(bodies[i], words_of(expected_trees[(me + k) % ranks].words()), expected);
      }
      Vector each{};
      Vector size{};
      for (const Body& other : all) {
        Vector away{};
        double square = kSoftening;
        for (size_t axis = 0; axis < kAxes; ++axis) {
          away[axis] = other.place[axis] - bodies[i].place[axis];
          square += away[axis] * away[axis];
        }
        Vector pull{};
        add_pull(away, square, other.mass, pull);
        for (size_t axis = 0; axis < kAxes; ++axis) {
          each[axis] += pull[axis];
          size[axis] += std::abs(pull[axis]);
        }
      }
      for (size_t axis = 0; axis < kAxes; ++axis) {
        if (!(std::abs(forces[i][axis] - expected[axis]) <= kRounding * size[axis])) return false;
        if (!(std::abs(forces[i][axis] - each[axis]) <= kAccuracy * size[axis])) return false;
      }
    }
    return true;
  };
  parts.scale = 1 / static_cast<double>(count);
  return measure_single_accesses(session, rule, parts);
}

}  // namespace

Benchmark barnes_benchmark() {
  return single_access_benchmark(
      {.known = experiment::kernels::kBarnes,
       .run = run_barnes,
       .title = "Gravitation by octrees",
       .description = "Every rank builds an octree of the bodies in its slice of space, and finds "
                      "what the trees of all ranks do to each of its bodies: of nodes that are "
                      "small for their distance the mass as one body, of others their children "
                      "(Barnes and Hut). The numbers of nodes of other ranks are read one by one "
                      "(naive), after all trees have been fetched (by_hand), or",
       .factors = {integer_factor(kBodiesFactor, "1", "Bodies of a rank.", {64}, 1, 1 << 16)},
       .metric = {"time_per_body", "s", true},
       .verification = "Every force is computed again in every repetition, by trees and by pairs "
                       "of bodies."});
}

}  // namespace stripline::suites
