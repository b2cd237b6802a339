#include "base/suggest.h"

#include <algorithm>

namespace stripline {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before;
  std::vector<size_t> previous(b.size() + 1);
  std::vector<size_t> current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before = previous;
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& choices) {
  constexpr size_t kMaxEdits = 2;
  std::optional<std::string> best;
  size_t best_distance = kMaxEdits + 1;
  for (const std::string& choice : choices) {
    if (text.size() >= 2 && choice.starts_with(text)) return choice;
    const size_t distance = edit_distance(text, choice);
    if (distance < best_distance && 2 * distance < choice.size()) {
      best_distance = distance;
      best = choice;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& choices) {
  const auto guess = nearest(text, choices);
  return guess ? " (did you mean '" + *guess + "'?)" : std::string();
}

}  // namespace stripline
