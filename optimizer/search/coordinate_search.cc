#include "optimizer/search/coordinate_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stripline::search {

CoordinateSearch::CoordinateSearch(std::vector<std::size_t> values) : values_(std::move(values)) {}

void CoordinateSearch::add(const Combination& combination, double log_time) {
  found_[combination] = log_time;
}

std::optional<double> CoordinateSearch::log_time(const Combination& combination) const {
  const auto found = found_.find(combination);
  return found == found_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Combination> CoordinateSearch::next() const {
  for (std::vector<Combination> all : {neighbours_of(best()), pairs()}) {
    std::erase_if(all, [&](const Combination& one) { return found_.contains(one); });
    if (all.empty()) continue;
    return std::ranges::min(all, {}, [&](const Combination& one) { return expected(one); });
  }
  return std::nullopt;
}

Combination CoordinateSearch::best() const {
  Combination best(values_.size(), 0);
  std::optional<double> least;
  for (const auto& [combination, log_time] : found_) {
    if (std::isnan(log_time) || (least && log_time >= *least)) continue;
    best = combination;
    least = log_time;
  }
  return best;
}

// The sum of what its values change alone; what is not known changes nothing.
double CoordinateSearch::expected(const Combination& combination) const {
  const Combination usual(values_.size(), 0);
  const double usual_log = log_time(usual).value_or(0);
  double sum = 0;
  for (std::size_t knob = 0; knob < values_.size(); ++knob) {
    Combination alone = usual;
    alone[knob] = combination[knob];
    const double change = log_time(alone).value_or(usual_log) - usual_log;
    if (!std::isnan(change)) sum += change;
  }
  return sum;
}

std::vector<Combination> CoordinateSearch::neighbours_of(const Combination& combination) const {
  std::vector<Combination> all;
  for (std::size_t knob = 0; knob < values_.size(); ++knob) {
    for (std::size_t value = 0; value < values_[knob]; ++value) {
      Combination one = combination;
      one[knob] = value;
      if (value != combination[knob]) all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<Combination> CoordinateSearch::pairs() const {
  std::vector<Combination> all;
  for (std::size_t first = 0; first < values_.size(); ++first) {
    for (std::size_t second = first + 1; second < values_.size(); ++second) {
      for (std::size_t a = 1; a < values_[first]; ++a) {
        for (std::size_t b = 1; b < values_[second]; ++b) {
          Combination one(values_.size(), 0);
          one[first] = a;
          one[second] = b;
          all.push_back(std::move(one));
        }
      }
    }
  }
  return all;
}

}  // namespace stripline::search
