// Finds a site again, by what it is: a table of fixed size, from keys to sites. The analysis cache
// of Iancu et al. (start_nest and end_nest, section 5).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/decide/savings.h"

namespace stripline::decide {

/// `Entry` is a Site with a member `key`, for whose type there are == and hash_of(), a hash of 64
/// bits. When all places of a hash are taken, the oldest site is dropped: a table forgets, it
/// does not fail. Who uses a site meanwhile keeps it. Allocates when a place is taken for the first
/// time. Not thread-safe.
template <typename Entry>
class SiteTable {
 public:
  using Key = decltype(Entry::key);

  /// The site of a key, or null.
  Entry* find(const Key& key) { return find(key, hash_of(key)); }

  /// The site of a key, which `make(site)` fills if it is new.
  template <typename Make>
  Entry& find_or_make(const Key& key, const Make& make) {
    const uint64_t hash = hash_of(key);
    if (Entry* const known = find(key, hash)) return *known;
    Entry& made = insert(key, hash);
    make(made);
    return made;
  }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& entry : entries_) {
      if (entry != nullptr) visit(*entry);
    }
  }

  /// What the plans of all sites saved, of those that were forgotten, too.
  Savings savings() const {
    Savings all = forgotten_;
    for_each([&](const Entry& entry) { entry.race().add_to(all); });
    return all;
  }

 private:
  // A power of two. Dozens of sites seldom displace each other.
  static constexpr size_t kPlaces = 512;
  // Places of a hash, whose hashes fill a cache line. With four, one job in a thousand that has 33
  // sites has one that is displaced each time.
  static constexpr size_t kAssociativity = 8;

  static size_t base_of(uint64_t hash) {
    return (hash & (kPlaces / kAssociativity - 1)) * kAssociativity;
  }

  Entry* find(const Key& key, uint64_t hash) {
    const size_t base = base_of(hash);
    for (size_t place = base; place < base + kAssociativity; ++place) {
      Entry* const entry = entries_[place].get();
      if (hashes_[place] == hash && entry != nullptr && entry->key == key) return entry;
    }
    return nullptr;
  }

  Entry& insert(const Key& key, uint64_t hash) {
    const size_t base = base_of(hash);
    const auto oldest =
        std::min_element(stamps_.begin() + base, stamps_.begin() + base + kAssociativity);
    const auto place = static_cast<size_t>(oldest - stamps_.begin());
    std::unique_ptr<Entry>& entry = entries_[place];
    std::erase_if(displaced_, [](const auto& one) { return one->users == 0; });
    if (entry != nullptr) entry->race().add_to(forgotten_);
    if (entry != nullptr && entry->users == 0) {  // the same memory
      std::destroy_at(entry.get());
      std::construct_at(entry.get());
    } else {
      if (entry != nullptr) displaced_.push_back(std::move(entry));
      entry = std::make_unique<Entry>();
    }
    entry->key = key;
    hashes_[place] = hash;
    stamps_[place] = ++stamp_;
    return *entry;
  }

  std::vector<std::unique_ptr<Entry>> entries_{kPlaces};
  std::array<uint64_t, kPlaces> hashes_{};
  std::array<uint64_t, kPlaces> stamps_{};  // the order of insertion; 0: free
  uint64_t stamp_ = 0;
  std::vector<std::unique_ptr<Entry>> displaced_;  // while they are in use
  Savings forgotten_;
};

}  // namespace stripline::decide
