// How a program of this folder ends where something fails without which nothing goes on.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace stripline::load {

/// Ends the program.
[[noreturn]] void give_up(const std::string& why);

/// The value of a result. Ends the program if there is none.
template <typename Value>
Value need(Result<Value> result) {
  if (!result.ok()) give_up(result.error().message());
  return std::move(*result);
}

inline void need(const Status& status) {
  if (!status.ok()) give_up(status.error().message());
}

}  // namespace stripline::load
