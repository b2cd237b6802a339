// Every environment variable that users set for a program of the runtime, in one table: what
// `stripline run --verbose` shows and docs/launching.md lists. Reading and checking a value is the
// business of whoever uses it. What launchers and ranks tell each other is not here
// (docs/worker-protocol.md).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stripline {

struct Variable {
  std::string_view name;
  std::string_view fallback;  ///< the default as one would write it; empty: none
  std::string_view meaning;   ///< one line
};

/// All of them, in the order in which they are shown.
std::span<const Variable> variables();

/// A variable as this process sees it.
struct Setting {
  std::string name;
  std::string value;   ///< set and not empty, or the default
  std::string origin;  ///< "default", "environment", "option" (of the launcher), or "unknown": set,
                       ///< but no variable of ours, mostly a spelling mistake
  bool operator==(const Setting&) const = default;
};

/// A variable of this process, of ours or not; empty where it is not set. No thread changes the
/// environment meanwhile.
std::string environment_value(const std::string& name);

/// All variables, and then those that are set, begin with STRIPLINE_ and are unknown. Reads the
/// environment: at start-up only.
std::vector<Setting> settings();

/// The names, separated by spaces, that a launcher has set because of its options
/// (docs/worker-protocol.md).
inline constexpr const char* kOptionsVariable = "STRIPLINE_OPTIONS";

/// The value that a variable has in processes which get `environment` beside this process's: from
/// there, else from here, else the default; empty if there is none.
std::string value_with(const std::map<std::string, std::string>& environment,
                       const std::string& name);

}  // namespace stripline
