// Communicates by every method while it really computes, and writes down all times and results that
// it sees: FILE.RANK has a line for each step, with times in hexadecimal so that no bit is lost.
// For tests that compare runs.
//
//   timeline FILE ROUNDS [--nice]   --nice: each rank lowers its priority by another amount
//
// Polls, tasks taken from a shared counter and the order of a lock depend on when things happen, so
// that a time that differs anywhere shows in what follows.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/lock.h>
#include <stripline/team.h>
#include <stripline/vis.h>

namespace {

using stripline::Context;
using stripline::global_ptr;
using stripline::rank_t;

constexpr size_t kBlock = 1024;
constexpr uint64_t kTasks = 3;  // for each rank in a round

struct Arrays {
  global_ptr<double> blocks;      // in: from the neighbour; out: for strided reads
  global_ptr<uint64_t> words;     // flag, task counter, variable under the lock
  stripline::global_lock& under;  // of that variable
};

class Timeline {
 public:
  Timeline(Context& context, const Arrays& arrays, std::FILE* out)
      : context_(context),
        arrays_(arrays),
        out_(out),
        counters_(context),
        all_(stripline::team::world(context)),
        block_(kBlock, 1.0 + context.rank_me()) {
    message_ =
        context.register_am([this](rank_t, std::span<const std::byte>) { ++messages_served_; });
    context.barrier();
  }

  void round(uint64_t number) {
    number_ = number;
    compute(500 * (1 + (context_.rank_me() + number) % 5));
    pass_block_on();
    compute(2000);
    read_strided();
    take_tasks();
    add_under_lock();
    greet_all();
    double sum = block_[number % kBlock];
    all_.allreduce(std::span(&sum, 1), std::span(&sum, 1), stripline::op_add{});
    write("allreduce", sum);
    context_.barrier();
    write("barrier", 0);
  }

 private:
  void write(const char* step, double result) {
    std::fprintf(out_, "%llu %s %a %a\n", static_cast<unsigned long long>(number_), step,
                 context_.now_s(), result);
  }

  // CPU time, of which the virtual clock knows only from measuring it.
  void compute(uint64_t amount) {
    double& value = block_[amount % kBlock];
    for (uint64_t i = 0; i < amount; ++i) value = value * 0.999 + 1.0 / (1.0 + value);
    write("compute", value);
  }

  void pass_block_on() {
    const rank_t next = (context_.rank_me() + 1) % context_.rank_n();
    const auto flag = context_.on_rank(arrays_.words, next);
    context_.rput_signal(block_.data(), context_.on_rank(arrays_.blocks, next), kBlock, flag,
                         number_ + 1);
    uint64_t polls = 0;
    while (*context_.local(arrays_.words) != number_ + 1) {
      context_.progress();
      ++polls;
    }
    write("polls", static_cast<double>(polls));
    const double* received = context_.local(arrays_.blocks);
    double sum = 0;
    for (size_t i = 0; i < kBlock; ++i) sum += received[i];
    write("block", sum);
  }

  void read_strided() {
    const rank_t peer = (context_.rank_me() + context_.rank_n() / 2) % context_.rank_n();
    std::vector<double> got(kBlock / 8);
    stripline::rget_strided<1>(context_, context_.on_rank(arrays_.blocks, peer),
                               {8 * sizeof(double)}, got.data(), {sizeof(double)}, {kBlock / 8})
        .wait();
    double sum = 0;
    for (const double value : got) sum += value;
    write("strided", sum);
    context_.barrier();
  }

  void take_tasks() {
    const auto counter = context_.on_rank(arrays_.words, 0) + 1;
    const uint64_t end = (number_ + 1) * kTasks * context_.rank_n();
    while (true) {
      const uint64_t task = counters_.fetch_add(counter, 1);
      if (task >= end) {
        write("tasks", static_cast<double>(task));
        break;
      }
      compute(200 * (1 + task % 7));
    }
    context_.barrier();
    if (context_.rank_me() == 0) counters_.store(counter, end).wait();
    context_.barrier();
  }

  void add_under_lock() {
    const auto variable = context_.on_rank(arrays_.words, context_.rank_n() - 1) + 2;
    const std::lock_guard hold(arrays_.under);
    const uint64_t value = context_.rget(variable);
    context_.rput(value * 31 + context_.rank_me(), variable);
    // 52 bits of who came when.
    write("lock", static_cast<double>(value >> 12));
  }

  void greet_all() {
    for (rank_t target = 0; target < context_.rank_n(); ++target) {
      context_.am_send(target, message_, std::as_bytes(std::span(block_).first(32)));
    }
    const uint64_t expected = (number_ + 1) * context_.rank_n();
    context_.wait_until([&] { return messages_served_ >= expected; });
    write("messages", static_cast<double>(messages_served_));
  }

  Context& context_;
  Arrays arrays_;
  std::FILE* out_;
  stripline::atomic_domain<uint64_t> counters_;
  stripline::team all_;
  std::vector<double> block_;
  uint32_t message_ = 0;
  uint64_t messages_served_ = 0;
  uint64_t number_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  auto joined = Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  Context& context = **joined;
  if (argc > 3 && std::string_view(argv[3]) == "--nice") {
    ::setpriority(PRIO_PROCESS, 0, static_cast<int>(context.rank_me() * 7 % 20));
  }
  const auto blocks = context.new_symmetric_array<double>(kBlock);
  const auto words = context.new_symmetric_array<uint64_t>(3);
  if (!blocks.ok()) return stripline::report(blocks.error());
  if (!words.ok()) return stripline::report(words.error());
  auto lock = stripline::global_lock::create(context);
  if (!lock.ok()) return stripline::report(lock.error());
  const std::string name = std::string(argv[1]) + "." + std::to_string(context.rank_me());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(name.c_str(), "w"),
                                                            &std::fclose);
  if (out == nullptr) return 1;
  Timeline timeline(context, {*blocks, *words, *lock}, out.get());
  const uint64_t rounds = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t i = 0; i < rounds; ++i) timeline.round(i);
  return 0;
}
