#include "server/core/sessions/ingest.h"

#include <algorithm>
#include <utility>

namespace stripline::server {
namespace {

// In one transaction; others wait for it.
constexpr size_t kMaxBatchesAtOnce = 256;
constexpr size_t kMaxBytesAtOnce = size_t{16} << 20;

}  // namespace

Ingest::Ingest(Store& store, Sink sink)
    : store_(store), sink_(std::move(sink)), writer_([this] { run(); }) {}

Ingest::~Ingest() { stop(); }

void Ingest::add(Arrival arrival) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(arrival));
  }
  arrived_.notify_one();
}

void Ingest::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_one();
  if (writer_.joinable()) writer_.join();
}

void Ingest::run() {
  for (auto group = next_group(); !group.empty(); group = next_group()) {
    store_group(group);
    sink_(group);
  }
}

// Empty when it is to stop.
std::vector<Arrival> Ingest::next_group() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
  std::vector<Arrival> group;
  size_t bytes = 0;
  while (!stopping_ && !waiting_.empty() && group.size() < kMaxBatchesAtOnce &&
         bytes < kMaxBytesAtOnce) {
    bytes += waiting_.front().batch.data.size();
    group.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return group;
}

// All of them, or, where something is wrong with one, each by itself.
void Ingest::store_group(std::vector<Arrival>& group) {
  Changes together;
  for (const Arrival& arrival : group) together.live_batches.push_back(&arrival.batch);
  const Status stored = store_.apply(together);
  for (Arrival& arrival : group) {
    arrival.stored = stored;
    if (stored.ok() || group.size() == 1) continue;
    Changes alone;
    alone.live_batches.push_back(&arrival.batch);
    arrival.stored = store_.apply(alone);
  }
}

}  // namespace stripline::server
