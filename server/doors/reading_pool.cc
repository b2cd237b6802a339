#include "server/doors/reading_pool.h"

#include <algorithm>
#include <malloc.h>
#include <sys/resource.h>
#include <utility>

namespace stripline::server {
namespace {

// Whatever else this process does goes first.
constexpr int kNice = 10;

}  // namespace

ReadingPool::Options ReadingPool::options_for(size_t processors) {
  return {.threads = std::clamp<size_t>(processors / 4, 1, 2)};
}

ReadingPool::ReadingPool(const Options& options) : options_(options) {
  for (size_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { run(); });
}

ReadingPool::~ReadingPool() { stop(); }

std::optional<Problem> ReadingPool::submit(const std::string& payer, Job job) {
  const std::lock_guard lock(mutex_);
  size_t& present = present_[payer];
  if (stopping_ || submitted_ >= options_.waiting || present >= options_.of_payer) {
    const bool own = present >= options_.of_payer;
    if (present == 0) present_.erase(payer);
    return Problem{ErrorCode::resource_exhausted,
                   "BUSY",
                   own ? "as many long reads of " + payer +
                             " are in progress as one caller may have; "
                             "try again when one has ended"
                       : "the server is busy with long reads; try again in a moment",
                   {}};
  }
  ++present;
  ++submitted_;
  add(payer, {std::move(job), true});
  return std::nullopt;
}

bool ReadingPool::go_on(const std::string& payer, Job job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  add(payer, {std::move(job), false});
  return true;
}

// The mutex is held.
void ReadingPool::add(const std::string& payer, Waiting waiting) {
  auto& queue = jobs_[payer];
  if (queue.empty()) turns_.push_back(payer);
  queue.push_back(std::move(waiting));
  has_work_.notify_one();
}

// The next job of the caller whose turn it is. The mutex is held.
ReadingPool::Waiting ReadingPool::take(std::string& payer) {
  payer = std::move(turns_.front());
  turns_.pop_front();
  const auto queue = jobs_.find(payer);
  Waiting next = std::move(queue->second.front());
  queue->second.pop_front();
  if (next.submitted) --submitted_;
  if (queue->second.empty()) {
    jobs_.erase(queue);
  } else {
    turns_.push_back(payer);
  }
  return next;
}

void ReadingPool::run() {
  // On Linux this is this thread's alone.
  (void)::setpriority(PRIO_PROCESS, 0, kNice);
  std::unique_lock lock(mutex_);
  while (true) {
    has_work_.wait(lock, [this] { return stopping_ || !turns_.empty(); });
    if (stopping_) return;
    std::string payer;
    auto [job, submitted] = take(payer);
    lock.unlock();
    job(false);
    job = {};
    // What a long read has taken would stay with this process.
    ::malloc_trim(0);
    lock.lock();
    if (!submitted) continue;
    if (const auto present = present_.find(payer); --present->second == 0) present_.erase(present);
  }
}

void ReadingPool::stop() {
  std::map<std::string, std::deque<Waiting>> left;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    left.swap(jobs_);
    turns_.clear();
    submitted_ = 0;
  }
  has_work_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  for (auto& [payer, queue] : left) {
    for (const Waiting& waiting : queue) waiting.job(true);
  }
}

}  // namespace stripline::server
