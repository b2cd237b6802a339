// What the command lines of all programs have in common: numbers, sizes and times that are read
// and refused alike, mistakes that are printed in one line, and --version. A library of its own
// (stripline_command_line), so that base itself needs no CLI11.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/quantity.h"

namespace stripline {

/// For Option::transform(): accepts decimal whole numbers from `low` to `high`. CLI11 itself wraps
/// negative numbers, and reads 010 as 8.
CLI::Validator whole_number(uint64_t low, uint64_t high);

/// Accepts numbers from `low` on that a variable of this type can hold.
template <std::unsigned_integral Number>
CLI::Validator whole_number_from(Number low) {
  return whole_number(low, std::numeric_limits<Number>::max());
}

/// For Option::transform() of a number of bytes: what parse_bytes() reads, from `least` on.
CLI::Validator size_from(uint64_t least);

/// For Option::transform() of a number of seconds: what parse_seconds() reads, within `range`.
CLI::Validator time_within(const TimeRange& range);

/// For Option::transform() of a share of a whole: "15%", "15 %" or "0.15", above 0 and at most 1.
CLI::Validator share();

/// For Option::check(): accepts these words only, and names the nearest of them.
CLI::Validator one_of(std::vector<std::string> words);

/// An option, or an argument, and what its help calls the value.
template <typename Value>
CLI::Option* add_value(CLI::App& command, const std::string& name, Value& value,
                       const std::string& about, const std::string& type) {
  return command.add_option(name, value, about)->type_name(type);
}

/// One that a command needs.
template <typename Value>
void add_required(CLI::App* command, const std::string& name, Value& value,
                  const std::string& about, const std::string& type) {
  add_value(*command, name, value, about, type)->required();
}

/// How a command line ends that starts nothing.
struct CommandLineEnd {
  int exit_code = 0;  ///< kExitOk, or kExitUsage
  std::string out;    ///< for standard output: help, or the version
  std::string err;    ///< for standard error: one line
};

/// Words the exception that `app` threw while parsing. An unknown option or command comes before
/// what else is wrong, as it is mostly the reason, and names the nearest known one. `stray` is said
/// of an argument where none is expected.
CommandLineEnd command_line_end(const CLI::App& app, const CLI::ParseError& error,
                                std::string_view stray = {});

/// "PROGRAM: error: MESSAGE; see 'PROGRAM --help'\n"
std::string usage_line(const std::string& program, const std::string& message);

/// Adds --version and parses. Prints help, version or mistake, or writes the manual (manual.h), and
/// returns the exit code of a program that ends there; nullopt: it goes on.
std::optional<int> read_command_line(CLI::App& app, int argc, const char* const* argv,
                                     std::string_view stray = {});

/// Adds --version, which prints the name of the app and the version of this build.
void add_version(CLI::App& app);

/// "0.1.0"
std::string_view program_version();

}  // namespace stripline
