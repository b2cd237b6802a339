// A place in the program's source. A function that wraps a call of the library passes its caller's
// on, which messages name then:
//
//   const auto load = [&ctx](stripline::global_ptr<double> place,
//                            stripline::CallSite site = stripline::CallSite::current()) {
//     return ctx.rget(place, site);
//   };
//   sum += load(remote);   // a message about this rget names this line
#pragma once

#include <cstdint>

namespace stripline {

/// Where a call stands, when it is a defaulted argument of the call: std::source_location for
/// compilers that lack it.
struct CallSite {
  const char* file = nullptr;  ///< null: not known; or what stands for a place without a line
  int line = 0;                ///< counted from 1; 0: not known
  /// The place of the call whose argument defaults to this.
  static constexpr CallSite current(const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
    return {file, line};
  }
};

namespace detail {
/// Ends the process with a message, as no job is known: `call` is of what has been moved from.
[[noreturn]] void fail_moved_from(const char* call, CallSite site = {});
/// The same: `call` was given a number of elements above zero at a null pointer.
[[noreturn]] void fail_null(const char* call, uint64_t elements, CallSite site = {});
/// The same: `call` was given an empty std::function, or a null function pointer, to call.
[[noreturn]] void fail_uncallable(const char* call, CallSite site = {});
}  // namespace detail

}  // namespace stripline
