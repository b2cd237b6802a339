// A job of threads whose ranks have not all the same options, as ranks of several hosts may.
#pragma once

#include <functional>
#include <vector>

#include <stripline/context.h>

#include "base/result.h"

namespace stripline::bootstrap {

/// As run_ranks() (thread_group.h), with a rank for each of these.
Status run_mixed_ranks(const std::vector<Options>& of_ranks,
                       const std::function<void(Context&)>& body);

}  // namespace stripline::bootstrap
