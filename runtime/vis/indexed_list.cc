#include <algorithm>
#include <utility>

#include <stripline/call_site.h>
#include <stripline/indexed_list.h>

namespace stripline {

indexed_list::indexed_list(std::vector<uint32_t> numbers)
    : numbers_(std::move(numbers)), size_(numbers_.size()) {
  if (numbers_.empty()) return;
  const auto [smallest, largest] = std::ranges::minmax(numbers_);
  smallest_ = smallest;
  largest_ = largest;
  runs_ = 1;
  for (size_t i = 1; i < numbers_.size(); ++i) {
    runs_ += numbers_[i] != uint64_t{numbers_[i - 1]} + 1 ? 1U : 0U;
  }
}

indexed_list::indexed_list(std::span<const uint32_t> numbers, CallSite site) {
  if (numbers.data() == nullptr && !numbers.empty()) {
    detail::fail_null("indexed_list", numbers.size(), site);
  }
  *this = indexed_list(std::vector<uint32_t>(numbers.begin(), numbers.end()));
}

indexed_list::indexed_list(indexed_list&& other) noexcept { *this = std::move(other); }

// A list without numbers is one in order, unless it has no size either.
indexed_list& indexed_list::operator=(indexed_list&& other) noexcept {
  numbers_ = std::exchange(other.numbers_, {});
  size_ = std::exchange(other.size_, size_t{0});
  smallest_ = std::exchange(other.smallest_, uint64_t{0});
  largest_ = std::exchange(other.largest_, uint64_t{0});
  runs_ = std::exchange(other.runs_, size_t{0});
  return *this;
}

indexed_list indexed_list::in_order(size_t count) {
  indexed_list list;
  list.size_ = count;
  list.largest_ = count == 0 ? 0 : count - 1;
  list.runs_ = count == 0 ? 0 : 1;
  return list;
}

}  // namespace stripline
