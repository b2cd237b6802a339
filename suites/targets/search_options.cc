#include "suites/targets/search_options.h"

#include <algorithm>

#include "suites/targets/session.h"

namespace stripline::suites::tune {

Result<SearchOptions> search_options(const TuneOptions& options) {
  SearchOptions search{
      .grid = {.ranks = options.ranks, .most_bytes = options.most_bytes},
      .safety = {.commutative_only = options.commutative_only},
      .rule = {.margin = options.margin},
      .memory_bytes = options.memory_bytes,
      .largest_job = std::max(options.largest_job, std::ranges::max(options.ranks)),
      .seed = options.seed,
      .processors = processors_here()};
  STRIPLINE_ASSIGN_OR_RETURN(search.path, path_from_string(options.path));
  for (const std::string& name : options.collectives) {
    const auto collective = targets::collective_from_string(name);
    if (!collective) {
      return Error(ErrorCode::invalid_argument,
                   "'" + name + "' is not a collective operation that is tuned");
    }
    search.grid.collectives.push_back(*collective);
  }
  return search;
}

}  // namespace stripline::suites::tune
