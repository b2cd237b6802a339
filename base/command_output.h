// What a program prints, for those that are asked for a version or a list.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace stripline {

/// Standard output of a program that ends with code 0 within the time, with these variables in
/// addition. Errors: not_found if it cannot be started, failed_precondition with what it wrote to
/// standard error, deadline_exceeded.
Result<std::string> output_of(const std::vector<std::string>& argv, double limit_s = 30,
                              const std::map<std::string, std::string>& environment = {});

}  // namespace stripline
