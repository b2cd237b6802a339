// Answers that never change, by what was asked, so that they are worked out once: tables of
// decisions, comparisons. Those asked for last are kept.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace stripline::server {

class AnswerCache {
 public:
  using Text = std::shared_ptr<const std::string>;

  /// Keeps texts of at most `most_bytes` in all, keys included; one that has more than a quarter of
  /// them is not kept.
  explicit AnswerCache(size_t most_bytes) : most_bytes_(most_bytes) {}

  Text find(const std::string& key);  ///< nullptr: it is not kept
  Text keep(const std::string& key, std::string text);
  size_t bytes();

 private:
  struct Entry {
    std::string key;
    Text text;
    size_t bytes() const { return key.size() + text->size(); }
  };
  const size_t most_bytes_;
  std::mutex mutex_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the one asked for last is the first
  std::map<std::string, std::list<Entry>::iterator> by_key_;
};

}  // namespace stripline::server
