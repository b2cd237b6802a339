#include "server/doors/answer_cache.h"

#include <utility>

namespace stripline::server {

AnswerCache::Text AnswerCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->text;
}

AnswerCache::Text AnswerCache::keep(const std::string& key, std::string text) {
  Entry entry{key, std::make_shared<const std::string>(std::move(text))};
  const Text kept = entry.text;
  if (entry.bytes() > most_bytes_ / 4) return kept;
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return kept;
  bytes_ += entry.bytes();
  entries_.push_front(std::move(entry));
  by_key_.emplace(key, entries_.begin());
  while (bytes_ > most_bytes_) {
    const Entry& last = entries_.back();
    bytes_ -= last.bytes();
    by_key_.erase(last.key);
    entries_.pop_back();
  }
  return kept;
}

size_t AnswerCache::bytes() {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace stripline::server
