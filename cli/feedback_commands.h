// What runs report about the models that they used: reports of `stripline run --report`.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

// Each prints its result and returns the exit code.
Result<int> run(const Global& global, const FeedbackSend& command);
Result<int> run(const Global& global, const FeedbackList& command);

}  // namespace stripline::cli
