#include "base/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>
#include <utility>

#include "base/cut_text.h"
#include "base/exit_codes.h"
#include "base/grammar_facts.h"
#include "base/manual.h"
#include "base/standard_output.h"
#include "base/suggest.h"

namespace stripline {
namespace {

// The command that was chosen, and how it is called from the shell.
struct Chosen {
  const CLI::App* app;
  std::string name;
};

Chosen chosen_command(const CLI::App& program) {
  Chosen chosen{&program, program.get_name()};
  while (!chosen.app->get_subcommands().empty()) {
    chosen.app = chosen.app->get_subcommands().front();
    chosen.name += " " + chosen.app->get_name();
  }
  return chosen;
}

// Options of the command, and of the commands above it, which it takes as well.
std::vector<std::string> known_options(const CLI::App* app) {
  std::vector<std::string> names;
  for (; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
  }
  return names;
}

std::vector<std::string> known_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

bool looks_like_option(const std::string& argument) {
  return argument.size() > 1 && argument.front() == '-' && argument != "--";
}

// About the first argument that nothing takes; nullopt: all are taken.
std::optional<std::string> stray_argument(const CLI::App& program, const Chosen& chosen,
                                          std::string_view hint) {
  std::vector<std::string> left = program.remaining(true);
  std::erase(left, "--");
  if (left.empty()) return std::nullopt;
  const std::string& first = left.front();
  if (looks_like_option(first)) {
    const std::string name = first.substr(0, first.find('='));
    const auto known = known_options(chosen.app);
    // Single dashes before long names are a habit of other programs.
    auto guess = nearest(name, known);
    if (!guess && !name.starts_with("--")) guess = nearest("-" + name, known);
    return "unknown option " + cut_text(name, kLongestQuoteBytes) +
           (guess ? "; did you mean " + *guess + "?" : std::string());
  }
  if (const auto commands = known_commands(*chosen.app); !commands.empty()) {
    const auto guess = nearest(first, commands);
    return "unknown command " + quoted_text(first) +
           (guess ? "; did you mean '" + chosen.name + " " + *guess + "'?" : std::string());
  }
  return "unexpected argument " + quoted_text(first) +
         (hint.empty() ? std::string() : "; " + std::string(hint));
}

// What CLI11 calls "candidate is required" and "A subcommand is required".
std::string missing_text(const CLI::App& command, const std::string& text) {
  const std::string name = text.substr(0, text.find(" is required"));
  if (name == "A subcommand") {
    std::string list;
    for (const std::string& each : known_commands(command))
      list += (list.empty() ? "" : ", ") + each;
    constexpr size_t kShort = 60;  // longer lists are for the help
    return "the command is missing" + (list.size() > kShort ? "" : ": " + list);
  }
  for (const CLI::Option* option : positionals_of(command)) {
    if (option->get_name() != name) continue;
    const std::string type = value_type_of(*option).name;
    const std::string& described = option->get_description();
    return (type.empty() ? name : type) + " is missing" +
           (described.empty() ? "" : " (" + described + ")");
  }
  return text;
}

// CLI11 counts: "--fabric: 1 required F missing".
std::string mistake_text(const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return missing_text(command, text);
  }
  const bool no_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr &&
                        text.find(" required ") != std::string::npos;
  return no_value ? text.substr(0, text.find(':')) + " needs a value" : text;
}

bool asks_for_text(const CLI::ParseError& error) {
  return error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
}

}  // namespace

CLI::Validator whole_number(uint64_t low, uint64_t high) {
  return {[low, high](std::string& text) {
            uint64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [parsed, error] = std::from_chars(text.data(), end, value);
            if (error == std::errc() && parsed == end && value >= low && value <= high) {
              text = std::to_string(value);
              return std::string();
            }
            return quoted_text(text) + " is not a whole number from " + std::to_string(low) +
                   " to " + std::to_string(high);
          },
          ""};
}

CLI::Validator size_from(uint64_t least) {
  return {[least](std::string& text) {
            const auto bytes = parse_bytes(text, "the size");
            if (!bytes.ok()) return bytes.error().message();
            if (*bytes < least) {
              return quoted_text(text) + " is too small; it is " + exact_bytes_text(least) +
                     " at least";
            }
            text = std::to_string(*bytes);
            return std::string();
          },
          ""};
}

CLI::Validator time_within(const TimeRange& range) {
  return {[range](std::string& text) {
            const auto seconds = parse_seconds(text, range);
            if (!seconds.ok()) return seconds.error().message();
            std::ostringstream exact;
            exact.precision(17);
            exact << *seconds;
            text = exact.str();
            return std::string();
          },
          ""};
}

CLI::Validator share() {
  return {[](std::string& text) {
            std::string_view number = text;
            const bool percent = number.ends_with('%');
            if (percent) number.remove_suffix(1);
            while (percent && number.ends_with(' ')) number.remove_suffix(1);
            double value = 0;
            const auto [end, ec] =
                std::from_chars(number.data(), number.data() + number.size(), value);
            if (percent) value /= 100;
            if (ec != std::errc() || end != number.data() + number.size() || !(value > 0) ||
                !(value <= 1)) {
              return quoted_text(text) + " is not a share; write e.g. 2% or 0.02, at most 100%";
            }
            std::ostringstream exact;
            exact.precision(17);
            exact << value;
            text = exact.str();
            return std::string();
          },
          ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return {[words = std::move(words), list](std::string& text) {
            if (std::ranges::find(words, text) != words.end()) return std::string();
            return quoted_text(text) + did_you_mean(text, words) + " is none of " + list;
          },
          "{" + list + "}"};
}

std::string usage_line(const std::string& program, const std::string& message) {
  const std::string name = program.substr(0, program.find(' '));
  const bool asks = message.ends_with('?');
  return name + ": error: " + message + (asks ? " See '" : "; see '") + program + " --help'\n";
}

CommandLineEnd command_line_end(const CLI::App& app, const CLI::ParseError& error,
                                std::string_view stray) {
  CommandLineEnd end;
  if (asks_for_text(error)) {
    std::ostringstream out;
    std::ostringstream none;
    app.exit(error, out, none);
    end.out = out.str();
    return end;
  }
  end.exit_code = kExitUsage;
  const Chosen chosen = chosen_command(app);
  end.err = usage_line(
      chosen.name, stray_argument(app, chosen, stray).value_or(mistake_text(*chosen.app, error)));
  return end;
}

std::optional<int> read_command_line(CLI::App& app, int argc, const char* const* argv,
                                     std::string_view stray) {
  add_version(app);
  if (const auto end = write_manual_if_asked(app, {argv + 1, argv + argc})) return end;
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const CommandLineEnd end = command_line_end(app, error, stray);
    std::fputs(end.out.c_str(), stdout);
    std::fputs(end.err.c_str(), stderr);
    if (end.exit_code != kExitOk) return end.exit_code;
  }
  const Status written = flush_standard_output();
  if (written.ok()) return kExitOk;
  std::fprintf(stderr, "%s: error: %s\n", app.get_name().c_str(),
               written.error().message().c_str());
  return exit_code_for(written.error().code());
}

void add_version(CLI::App& app) {
  app.set_version_flag("--version", app.get_name() + " " + std::string(program_version()),
                       "Print the version");
}

std::string_view program_version() { return STRIPLINE_VERSION; }

}  // namespace stripline
