// CLI11's classes by name, for headers that only pass them on: the library takes seconds to
// compile, and is included (command_line.h) where options are defined or read.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
