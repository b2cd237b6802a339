// What a program writes by hand that has something for elements all over: it sorts that into a
// bucket for each owner, and exchanges all buckets at once.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <stripline/context.h>
#include <stripline/team.h>
#include <stripline/work.h>

namespace stripline::suites {

/// All ranks exchange together, as often as each other. `Item` is trivially copyable.
template <typename Item>
class OwnerBuckets {
 public:
  explicit OwnerBuckets(Context& context) : context_(&context), world_(team::world(context)) {}

  /// Collective: what all ranks sent here, in the order of ranks; valid until the next call.
  template <typename OwnerOf>
  std::span<const Item> send(std::span<const Item> items, OwnerOf owner_of) {
    counts_.assign(world_.rank_n(), 0);
    for (const Item& item : items) ++counts_[owner_of(item)];
    begin(counts_, offsets_);
    next_ = offsets_;
    out_.resize(items.size());
    for (const Item& item : items) out_[next_[owner_of(item)]++] = item;
    if (Work* const work = context_->work()) {  // each is read to be counted, then moved
      work->bytes += 3 * static_cast<double>(items.size_bytes());
    }
    in_counts_.resize(world_.rank_n());
    world_.all_to_all(counts_, in_counts_);
    in_.resize(begin(in_counts_, in_offsets_));
    world_.all_to_all_v(out_, counts_, offsets_, in_, in_counts_, in_offsets_);
    return in_;
  }

  /// Collective, after send(): `answers` has one for each item that came, in their order. Calls
  /// take(i, answer) for every item that this rank has sent.
  template <typename Answer, typename OwnerOf, typename Take>
  void answer(std::span<const Answer> answers, std::span<const Item> items, OwnerOf owner_of,
              Take take) {
    std::vector<Answer> back(items.size());
    world_.all_to_all_v(answers, in_counts_, in_offsets_, back, counts_, offsets_);
    next_ = offsets_;
    for (size_t i = 0; i < items.size(); ++i) take(i, back[next_[owner_of(items[i])]++]);
  }

 private:
  // Where the part of each rank begins, and the size of all.
  static size_t begin(std::span<const size_t> counts, std::vector<size_t>& offsets) {
    offsets.resize(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), size_t{0});
    return offsets.back() + counts.back();
  }

  Context* context_;
  team world_;
  std::vector<size_t> counts_;
  std::vector<size_t> offsets_;
  std::vector<size_t> next_;
  std::vector<size_t> in_counts_;
  std::vector<size_t> in_offsets_;
  std::vector<Item> out_;
  std::vector<Item> in_;
};

}  // namespace stripline::suites
