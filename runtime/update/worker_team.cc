#include <atomic>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <new>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include <stripline/team.h>
#include <stripline/worker_team.h>

#include "base/clock.h"
#include "base/exception_text.h"
#include "base/exit_codes.h"
#include "runtime/machine/topology.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargest = std::numeric_limits<std::ptrdiff_t>::max();  // objects of C++

// The ranks of a node.
class NodeWorkers final : public worker_team {
 public:
  NodeWorkers(Context& context, team ranks)
      : worker_team(ranks.rank_me(), ranks.rank_n()), context_(context), ranks_(std::move(ranks)) {}

  void barrier() override { ranks_.barrier(); }
  std::vector<uint64_t> allgather(uint64_t mine) override {
    std::vector<uint64_t> all(count());
    ranks_.allgather(std::span(&mine, 1), all);
    // A rank may have what it needs of the others before they have come.
    ranks_.barrier();
    return all;
  }
  void relax() override { context_.progress(); }
  double now_s() override { return context_.now_s(); }
  Context* context() override { return &context_; }

  Result<uint64_t> allocate(size_t bytes) override {
    STRIPLINE_ASSIGN_OR_RETURN(const auto block, context_.allocate_local<std::byte>(bytes));
    return block.word();
  }
  void deallocate(uint64_t block) override {
    context_.deallocate_local(global_ptr<std::byte>::from_word(block));
  }
  std::byte* at(uint64_t block) const override {
    return context_.local(global_ptr<std::byte>::from_word(block));
  }

 private:
  [[noreturn]] void end_job(const Error& error) const override { context_.state().fail(error); }

  Context& context_;
  team ranks_;
};

}  // namespace

Result<std::unique_ptr<worker_team>> node_workers(Context& context) {
  if (context.state().job.fabric().info().clock == "virtual") {
    return Error(ErrorCode::unavailable,
                 "ranks on the virtual clock run one at a time and cannot share the work of a "
                 "node; take the real clock, or threads of one rank (thread_workers)");
  }
  // The first rank that is reached names the node, as all of its ranks reach each other.
  rank_t first = 0;
  while (!context.is_local(first)) ++first;
  std::unique_ptr<worker_team> workers =
      std::make_unique<NodeWorkers>(context, team::world(context).split(first, context.rank_me()));
  return workers;
}

// What the threads share. Blocks are named by their addresses.
struct thread_workers::State {
  explicit State(uint32_t workers) : count(workers), words(workers) {}

  const uint32_t count;
  std::vector<uint32_t> processors;
  Context* context = nullptr;
  std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> generation{0};
  std::vector<uint64_t> words;

  void barrier() {
    constexpr int kSpins = 1000;
    const uint32_t here = generation.load(std::memory_order_acquire);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == count) {
      arrived.store(0, std::memory_order_relaxed);
      generation.store(here + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; generation.load(std::memory_order_acquire) == here; ++spins) {
      if (spins > kSpins) std::this_thread::yield();
    }
  }
};

namespace {

struct FreeAligned {
  void operator()(std::byte* block) const {
    ::operator delete (block, std::align_val_t{kAlignment});
  }
};

template <typename State>
class ThreadWorker final : public worker_team {
 public:
  ThreadWorker(State& state, uint32_t index) : worker_team(index, state.count), state_(state) {}

  void barrier() override { state_.barrier(); }
  std::vector<uint64_t> allgather(uint64_t mine) override {
    state_.words[index()] = mine;
    state_.barrier();
    std::vector<uint64_t> all = state_.words;
    state_.barrier();
    return all;
  }
  void relax() override { std::this_thread::yield(); }
  // Threads that are no ranks have no fabric whose clock they could read.
  double now_s() override { return steady_seconds(); }

  Context* context() override { return state_.context; }

  Result<uint64_t> allocate(size_t bytes) override {
    std::unique_ptr<std::byte, FreeAligned> block;
    // Sizes are rounded up to the alignment, which wraps around for the largest of them.
    if (bytes <= kLargest) {
      block.reset(static_cast<std::byte*>(
          ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow)));
    }
    if (block == nullptr) {
      return Error(ErrorCode::resource_exhausted, "this process has no memory for " +
                                                      rma::byte_count_text(bytes) +
                                                      " that its workers share; ask for less");
    }
    const auto name = reinterpret_cast<uint64_t>(block.get());
    blocks_.emplace(name, std::move(block));
    return name;
  }
  void deallocate(uint64_t block) override { blocks_.erase(block); }
  std::byte* at(uint64_t block) const override {
    return reinterpret_cast<std::byte*>(block);  // NOLINT(performance-no-int-to-ptr)
  }

 private:
  [[noreturn]] void end_job(const Error& error) const override {
    std::fprintf(stderr, "error: worker %u: %s\n", index(), error.message().c_str());
    ::_exit(exit_code_for(error.code()));
  }

  State& state_;
  std::unordered_map<uint64_t, std::unique_ptr<std::byte, FreeAligned>> blocks_;
};

void bind_to(uint32_t processor) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(processor, &mask);
  ::sched_setaffinity(0, sizeof mask, &mask);
}

}  // namespace

thread_workers::thread_workers(uint32_t count, std::span<const uint32_t> processors,
                               Context* context, CallSite site)
    : state_(std::make_unique<State>(count == 0 ? 1 : count)) {
  if (processors.data() == nullptr && !processors.empty()) {
    detail::fail_null("thread_workers", processors.size(), site);
  }
  state_->processors.assign(processors.begin(), processors.end());
  state_->context = context;
}
thread_workers::~thread_workers() = default;

thread_workers thread_workers::all(Context* context) {
  const std::vector<uint32_t> allowed = machine::allowed_processors();
  std::vector<machine::ProcessorPlace> places;
  for (const uint32_t number : allowed) {
    if (const auto place = machine::read_processor_place(number)) places.push_back(*place);
  }
  if (places.empty())
    return thread_workers(static_cast<uint32_t>(allowed.size()), allowed, context);
  std::vector<uint32_t> processors;
  for (const machine::ProcessorPlace& place : machine::one_of_each_core(std::move(places))) {
    processors.push_back(place.number);
  }
  return thread_workers(static_cast<uint32_t>(processors.size()), processors, context);
}

void thread_workers::run(const std::function<void(worker_team&)>& body, CallSite site) {
  detail::check_callable(body, "thread_workers::run", site);
  std::vector<std::unique_ptr<ThreadWorker<State>>> workers;
  for (uint32_t i = 0; i < state_->count; ++i) {
    workers.push_back(std::make_unique<ThreadWorker<State>>(*state_, i));
  }
  std::vector<std::jthread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([this, &body, &worker] {
      const std::vector<uint32_t>& processors = state_->processors;
      if (!processors.empty()) bind_to(processors[worker->index() % processors.size()]);
      try {
        body(*worker);
      } catch (...) {
        worker->fail(Error(ErrorCode::invalid_argument,
                           "the body of thread_workers::run has thrown: " + exception_text() +
                               "; catch it in the body: the other workers wait for this one"));
      }
    });
  }
}

}  // namespace stripline
