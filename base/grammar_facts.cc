#include "base/grammar_facts.h"

#include <algorithm>
#include <string_view>

#include "base/command_line.h"

namespace stripline {

ValueType value_type_of(const CLI::Option& option) {
  ValueType type;
  // CLI11 puts what checks say of themselves behind the name, each after a colon; names may have
  // colons, too.
  const std::string text = option.get_type_name();
  constexpr std::string_view kIsThere = ":FILE";  // CLI::ExistingFile
  type.name = text.substr(0, text.find(":{"));
  if (type.name.ends_with(kIsThere)) type.name.resize(type.name.size() - kIsThere.size());
  const size_t open = text.find('{');
  const size_t close = text.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return type;
  size_t begin = open + 1;
  while (begin < close) {
    const size_t end = std::min(text.find(',', begin), close);
    type.choices.push_back(CLI::detail::trim_copy(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return type;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  const CLI::App* app = &command;
  while (app != nullptr) {
    for (const CLI::Option* option : app->get_options()) {
      const bool again = app != &command && option == app->get_help_ptr();
      if (option->nonpositional() && !again) options.push_back(option);
    }
    app = app->get_fallthrough() ? app->get_parent() : nullptr;
  }
  return options;
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& command) {
  std::vector<const CLI::Option*> positionals;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) positionals.push_back(option);
  }
  return positionals;
}

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

}  // namespace stripline
