// Sorting a handful of values. For the files of this folder.
#pragma once

#include <algorithm>
#include <span>

namespace stripline::access::detail {

/// By insertion: few values are sorted before std::sort has chosen a pivot.
template <typename T, typename Less>
void sort_few(std::span<T> values, Less less) {
  for (auto end = values.begin(); end != values.end(); ++end) {
    std::rotate(std::upper_bound(values.begin(), end, *end, less), end, end + 1);
  }
}

}  // namespace stripline::access::detail
