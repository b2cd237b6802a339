// What a search does as a command is given it.
#pragma once

#include "base/result.h"
#include "suites/targets/commands.h"
#include "suites/targets/search.h"

namespace stripline::suites::tune {

/// With the processors of this host; budgets and what cannot be set are left as they are. Errors:
/// invalid_argument for a path or a collective that is not known.
Result<SearchOptions> search_options(const TuneOptions& options);

}  // namespace stripline::suites::tune
