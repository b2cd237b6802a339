// What an exception says, for messages.
#pragma once

#include <exception>
#include <string>

namespace stripline {

/// what() of `error`, by default of the one that a catch clause is about.
inline std::string exception_text(const std::exception_ptr& error = std::current_exception()) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return caught.what();
  } catch (...) {
    return "something that is not a std::exception";
  }
}

}  // namespace stripline
