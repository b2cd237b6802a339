// kernel.psearch: a search of a tree whose branches differ much in size, with tasks that ranks
// steal from each other's pools under locks (Chen, Optimizing PGAS Programs for Cluster
// Architectures, 2007, chapter 6: Psearch).
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/lock.h>

#include "base/random.h"
#include "suites/kernels/indirect/indirect_variants.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

constexpr const char* kDepthFactor = "depth";

// A node of the tree that has not been looked at.
struct Task {
  uint64_t state = 0;
  uint64_t depth = 0;
  uint64_t path = 0;
};
constexpr size_t kTaskWords = 3;

struct Found {
  uint64_t nodes = 0;
  uint64_t sum = 0;
  friend bool operator==(const Found&, const Found&) = default;
};

Task root_of(uint64_t salt) { return {.state = hash_of(salt, 1)}; }

// Looks at a node, and leaves its children for later. A level has half as many nodes again as the
// one above it, on average; those of the last level have no children.
void look_at(const Task& task, uint64_t last_level, Found& found, std::vector<Task>& left) {
  constexpr uint64_t kOfRoot = 32;
  constexpr uint64_t kChildCounts = 4;  // 0 to 3
  ++found.nodes;
  found.sum += hash_of(task.state, task.path);
  uint64_t children = task.depth < last_level ? task.state % kChildCounts : 0;
  if (task.depth == 0) children = kOfRoot;
  for (uint64_t child = 0; child < children; ++child) {
    left.push_back({.state = hash_of(task.state, child),
                    .depth = task.depth + 1,
                    .path = kOfRoot * task.path + child});
  }
}

Found search_alone(uint64_t salt, uint64_t last_level) {
  Found found;
  std::vector<Task> left{root_of(salt)};
  while (!left.empty()) {
    const Task task = left.back();
    left.pop_back();
    look_at(task, last_level, found, left);
  }
  return found;
}

// A pool in the segment of each rank: how many tasks there are, and the tasks. Its rank alone puts
// tasks there, and only when it is empty. It is changed by who holds its lock.
constexpr size_t kShare = 8;  // tasks of a pool; nodes that a rank looks at between two calls
constexpr size_t kPoolWords = 1 + kTaskWords * kShare;
constexpr double kVisitFlops = 1000;  // what a game has to say of a position

class Search {
 public:
  Search(Context& context, const SymmetricMemory<uint64_t>& pools, std::vector<global_lock>& locks,
         global_ptr<int64_t> idle, const experiment::Point& point)
      : context_(context),
        pools_(pools),
        locks_(locks),
        idle_(idle),
        idlers_(context),
        point_(point),
        last_level_(size_param(point, kDepthFactor)) {}

  const Found& found() const { return found_; }

  void prepare(uint64_t salt) {
    found_ = Found();
    own_.clear();
    if (context_.rank_me() == 0) own_.push_back(root_of(salt));
    *pools_.here() = 0;
  }

  // Until no rank has a task.
  void run() {
    while (look_at_own() || take_back() || find_others()) {
    }
  }

 private:
  bool look_at_own() {
    if (own_.empty()) return false;
    const uint64_t before = found_.nodes;
    for (size_t i = 0; i < kShare && !own_.empty(); ++i) {
      const Task task = own_.back();
      own_.pop_back();
      look_at(task, last_level_, found_, own_);
    }
    if (Work* const work = context_.work()) {
      work->compute(kVisitFlops * static_cast<double>(found_.nodes - before), 0);
    }
    offer();
    context_.progress();
    return true;
  }

  // The tasks nearest to the root are the largest.
  void offer() {
    if (own_.size() < 2 * kShare || context_.rget(pools_.on(context_.rank_me())) > 0) return;
    const std::lock_guard hold(locks_[context_.rank_me()]);
    uint64_t* word = pools_.here();
    *word++ = kShare;
    for (size_t i = 0; i < kShare; ++i) {
      for (const uint64_t one : {own_[i].state, own_[i].depth, own_[i].path}) *word++ = one;
    }
    own_.erase(own_.begin(), own_.begin() + std::ptrdiff_t{kShare});
  }

  bool take_back() {
    const rank_t me = context_.rank_me();
    return context_.rget(pools_.on(me)) > 0 && take(me);
  }

  // Waits for tasks in the pool of another rank; false if there will be none: all ranks wait. One
  // that may get tasks does not count.
  bool find_others() {
    const rank_t ranks = context_.rank_n();
    idlers_.fetch_add(idle_, 1);
    while (idlers_.load(idle_) < static_cast<int64_t>(ranks)) {
      for (rank_t k = 1; k < ranks; ++k) {
        const rank_t rank = (context_.rank_me() + k) % ranks;
        if (context_.rget(pools_.on(rank)) == 0) continue;
        idlers_.fetch_add(idle_, -1);
        if (take(rank)) return true;
        idlers_.fetch_add(idle_, 1);
      }
      context_.progress();
    }
    return false;
  }

  // Half of the tasks of a pool, the last ones.
  bool take(rank_t rank) {
    const std::lock_guard hold(locks_[rank]);
    const size_t before = own_.size();
    if (point_.variant == experiment::variant::kFineRegion) {
      take_in_region(pools_.on(rank));
    } else if (point_.variant == experiment::variant::kByHand) {
      take_by_hand(pools_.on(rank));
    } else {
      take_one_by_one(pools_.on(rank));
    }
    return own_.size() > before;
  }

  static uint64_t taken_of(uint64_t tasks) { return (tasks + 1) / 2; }
  static global_ptr<uint64_t> task_at(global_ptr<uint64_t> pool, uint64_t number) {
    return pool + static_cast<std::ptrdiff_t>(1 + kTaskWords * number);
  }

  void take_one_by_one(global_ptr<uint64_t> pool) {
    const uint64_t tasks = context_.rget(pool);
    if (tasks == 0) return;
    for (uint64_t i = tasks - taken_of(tasks); i < tasks; ++i) {
      const global_ptr<uint64_t> task = task_at(pool, i);
      const uint64_t state = context_.rget(task);
      const uint64_t depth = context_.rget(task + 1);
      own_.push_back({state, depth, context_.rget(task + 2)});
    }
    context_.rput(tasks - taken_of(tasks), pool);
  }

  // The region ends before the lock is given back.
  void take_in_region(global_ptr<uint64_t> pool) {
    fine_region fine(context_, fine_options_of(point_));
    const uint64_t tasks = fine.value(pool);
    if (tasks == 0) return;
    std::vector<lazy<uint64_t>> words;
    for (uint64_t i = tasks - taken_of(tasks); i < tasks; ++i) {
      for (size_t word = 0; word < kTaskWords; ++word) {
        words.push_back(fine.read(task_at(pool, i) + static_cast<std::ptrdiff_t>(word)));
      }
    }
    for (size_t i = 0; i < words.size(); i += kTaskWords) {
      own_.push_back({words[i].get(), words[i + 1].get(), words[i + 2].get()});
    }
    fine.write(pool, tasks - taken_of(tasks));
  }

  void take_by_hand(global_ptr<uint64_t> pool) {
    const uint64_t tasks = context_.rget(pool);
    if (tasks == 0) return;
    const uint64_t taken = taken_of(tasks);
    std::array<uint64_t, kPoolWords> words{};
    context_.rget(task_at(pool, tasks - taken), words.data(), kTaskWords * taken).wait();
    for (size_t i = 0; i < kTaskWords * taken; i += kTaskWords) {
      own_.push_back({words[i], words[i + 1], words[i + 2]});
    }
    context_.rput(tasks - taken, pool);
  }

  Context& context_;
  const SymmetricMemory<uint64_t>& pools_;
  std::vector<global_lock>& locks_;
  const global_ptr<int64_t> idle_;
  const atomic_domain<int64_t> idlers_;  // ranks that wait for tasks
  const experiment::Point& point_;
  const uint64_t last_level_;
  Found found_;
  std::vector<Task> own_;
};

Result<experiment::SampleSeries> run_psearch(Session& session, const experiment::Point& point,
                                             const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(const auto pools, SymmetricMemory<uint64_t>::create(ctx, kPoolWords));
  STRIPLINE_ASSIGN_OR_RETURN(const auto idle, SymmetricMemory<int64_t>::create(ctx, 1));
  std::vector<global_lock> locks;
  locks.reserve(ctx.rank_n());
  for (rank_t home = 0; home < ctx.rank_n(); ++home) {
    STRIPLINE_ASSIGN_OR_RETURN(global_lock lock, global_lock::create(ctx, home));
    locks.push_back(std::move(lock));
  }
  Search search(ctx, pools, locks, idle.on(0), point);
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    *idle.here() = 0;
    search.prepare(salt);
  };
  parts.run = [&] { search.run(); };
  parts.verify = [&](uint64_t salt) {
    const Found all{ctx.reduce_all(search.found().nodes, Context::ReduceOp::sum),
                    ctx.reduce_all(search.found().sum, Context::ReduceOp::sum)};
    return all == search_alone(salt, size_param(point, kDepthFactor));
  };
  return measure_single_accesses(session, rule, parts);
}

}  // namespace

Benchmark psearch_benchmark() {
  return single_access_benchmark(
      {.known = experiment::kernels::kPsearch,
       .run = run_psearch,
       .title = "A search of a tree, with work stealing",
       .description = "The ranks look at all nodes of a tree, of which a node has none to three "
                      "children. Each has a pool of tasks for the others, under a lock; a rank "
                      "that has none left takes half of those in another one's pool, of three "
                      "numbers each. They are read one by one (naive), all by one get (by_hand), "
                      "or",
       .factors = {integer_factor(kDepthFactor, "1", "Levels of the tree below its root.", {12}, 1,
                                  20)},
       .metric = {"time", "s", true},
       .verification = "The number of nodes, and a sum over them, are compared with those of a "
                       "search by one rank in every repetition."});
}

}  // namespace stripline::suites
