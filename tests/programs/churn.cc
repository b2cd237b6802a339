// Everything at once, without end: puts, gets and atomic operations with and without handles,
// strided transfers, updates, active messages, signals, collectives and barriers between all ranks,
// and in every other round copies and single accesses in regions in which they do not wait. For
// tests that end it by force.
//
//   churn             until something ends it
//   churn ROUNDS      this many rounds, then leave

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/bulk.h>
#include <stripline/context.h>
#include <stripline/fine.h>
#include <stripline/team.h>
#include <stripline/update.h>
#include <stripline/vis.h>

namespace {

using stripline::Context;
using stripline::global_ptr;
using stripline::rank_t;

constexpr size_t kWords = 4096;

using Epoch = stripline::UpdateEpoch<uint64_t, stripline::op_add>;

std::vector<Epoch> epochs_of_every_method(Context& context) {
  using stripline::UpdateMethod;
  std::vector<Epoch> epochs;
  for (const uint32_t hops : {1U, 2U}) {
    epochs.emplace_back(context,
                        stripline::UpdateOptions{.settings = {.buffer_bytes = 256, .hops = hops}});
  }
  for (const auto method :
       {UpdateMethod::messages, UpdateMethod::owner_locks, UpdateMethod::cell_locks}) {
    epochs.emplace_back(context, stripline::UpdateOptions{.settings = {.method = method}});
  }
  return epochs;
}

class Churn {
 public:
  Churn(Context& context, global_ptr<uint64_t> words, global_ptr<uint64_t> updated)
      : context_(context),
        words_(words),
        updated_(updated),
        epochs_(epochs_of_every_method(context)),
        counters_(context),
        all_(stripline::team::world(context)),
        random_(context.rank_me()),
        buffer_(kWords) {
    message_ =
        context.register_am([this](rank_t, std::span<const std::byte>) { ++messages_served_; });
  }

  void round() {
    if (rounds_ % 2 == 1) in_regions();
    for (int i = 0; i < 50; ++i) operation();
    context_.fence();
    epochs_[rounds_++ % epochs_.size()].end();
    all_.allreduce(uint64_t{1}, stripline::op_add{});
    context_.barrier();
  }

 private:
  global_ptr<uint64_t> somewhere(size_t words) { return somewhere(words, words_); }
  global_ptr<uint64_t> somewhere(size_t words, global_ptr<uint64_t> array) {
    const auto rank = static_cast<rank_t>(random_() % context_.rank_n());
    return context_.on_rank(array, rank) +
           static_cast<std::ptrdiff_t>(random_() % (kWords - words));
  }

  // Phases that are fetched ahead, more or less.
  void in_regions() {
    stripline::bulk_region bulk(context_);
    stripline::fine_region fine(context_);
    for (int phase = 0; phase < 4; ++phase) {
      context_.barrier();
      stripline::memget(context_, buffer_.data(), context_.on_rank(words_, next()), 256);
      for (int i = 0; i < 20; ++i) operation_in_regions(bulk, fine);
    }
  }
  rank_t next() const { return (context_.rank_me() + 1) % context_.rank_n(); }

  void operation_in_regions(stripline::bulk_region& bulk, stripline::fine_region& fine) {
    const size_t count = 1 + random_() % 512;
    switch (random_() % 8) {
      case 0:
        stripline::memput(context_, somewhere(count), buffer_.data(), count);
        break;
      case 1:
        stripline::memget(context_, buffer_.data(), somewhere(count), count);
        break;
      case 2: {
        // From one half of the words to the other one.
        constexpr std::ptrdiff_t kHalf = kWords / 2;
        const auto from = context_.on_rank(words_, somewhere(1).where());
        stripline::memcpy(context_, context_.on_rank(words_, next()) + kHalf, from, count);
        break;
      }
      case 3: {
        const auto burst = bulk.aggregate();
        for (size_t i = 0; i < 16; ++i) {
          stripline::memput(context_, somewhere(4), buffer_.data() + 4 * i, 4);
        }
        break;
      }
      case 4:
        for (size_t i = 0; i < 16; ++i) fine.write(somewhere(1), uint64_t{i});
        break;
      case 5:
        for (size_t i = 0; i < 16; ++i) sum_ += fine.value(somewhere(1));
        break;
      case 6: {
        const auto row = somewhere(16);
        std::vector<stripline::lazy<uint64_t>> values;
        for (std::ptrdiff_t i = 0; i < 16; ++i) values.push_back(fine.read(row + i));
        for (size_t i = 0; i < 8; ++i) sum_ += values[i];  // the others are not used
        break;
      }
      default:
        counters_.add(somewhere(1), 1).wait();
        break;
    }
  }

  void operation() {
    const size_t count = 1 + random_() % 512;
    switch (random_() % 8) {
      case 0:
        context_.rput(buffer_.data(), somewhere(count), count).wait();
        break;
      case 1:
        context_.rget(somewhere(count), buffer_.data(), count).wait();
        break;
      case 2:
        context_.rput_nbi(buffer_.data(), somewhere(1), 1);
        break;
      case 3:
        counters_.fetch_add(somewhere(1), 1);
        break;
      case 4:
        context_.am_send(static_cast<rank_t>(random_() % context_.rank_n()), message_,
                         std::as_bytes(std::span(buffer_).first(count / 2)));
        break;
      case 5:
        stripline::rget_strided<1>(context_, somewhere(1000), {80}, buffer_.data(), {8}, {100})
            .wait();
        break;
      case 6:
        for (size_t i = 0; i < count; ++i) {
          epochs_[rounds_ % epochs_.size()].update(somewhere(1, updated_), i);
        }
        break;
      default:
        context_.rput_buffered(buffer_.data(), somewhere(count), count);
        break;
    }
  }

  Context& context_;
  global_ptr<uint64_t> words_;
  global_ptr<uint64_t> updated_;
  std::vector<Epoch> epochs_;  // a round each
  stripline::atomic_domain<uint64_t> counters_;
  stripline::team all_;
  std::mt19937_64 random_;
  std::vector<uint64_t> buffer_;
  uint32_t message_ = 0;
  uint64_t messages_served_ = 0;
  uint64_t sum_ = 0;
  uint64_t rounds_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  auto joined = Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  Context& context = **joined;
  const auto words = context.new_symmetric_array<uint64_t>(kWords);
  if (!words.ok()) return stripline::report(words.error());
  const auto updated = context.new_symmetric_array<uint64_t>(kWords);
  if (!updated.ok()) return stripline::report(updated.error());
  Churn churn(context, *words, *updated);
  const uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : UINT64_MAX;
  for (uint64_t i = 0; i < rounds; ++i) churn.round();
  return 0;
}
