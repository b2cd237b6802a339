// The options of a command of `stripline explain`, by the table of what its mechanism is asked. For
// the files of this folder.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/command_line.h"
#include "cli/command.h"
#include "cli/grammar_parts.h"
#include "optimizer/plan/mechanism.h"

namespace stripline::cli {

/// The option of one member of a request, or of its surroundings.
template <typename Object>
void add_field(CLI::App& command, const plan::Field<Object>& field, Object& object) {
  const plan::FieldText& text = field.text;
  const plan::FieldValue usual = field.get(object);
  const auto set = [&object, set = field.set](const auto& value) { set(object, value); };
  CLI::Option* option = nullptr;
  switch (text.unit) {
    case plan::Unit::flag:
      command.add_flag_callback(
          text.option, [set] { set(true); }, text.help);
      return;
    case plan::Unit::number:
      option = command.add_option_function<uint64_t>(text.option, set, text.help)
                   ->type_name("N")
                   ->transform(whole_number(text.least, text.most));
      break;
    case plan::Unit::bytes:
      option = command.add_option_function<uint64_t>(text.option, set, text.help)
                   ->type_name("BYTES")
                   ->transform(size_from(text.least));
      break;
    case plan::Unit::seconds:
      option = command.add_option_function<double>(text.option, set, text.help)
                   ->type_name("TIME")
                   ->transform(time_within({}));
      break;
    case plan::Unit::choice: {
      const auto choices = text.choices;
      const auto choose = [set, choices](const std::string& said) {
        set(*std::ranges::find(choices, std::string_view(said)));
      };
      option = command.add_option_function<std::string>(text.option, choose, text.help)
                   ->type_name("NAME")
                   ->check(one_of({choices.begin(), choices.end()}))
                   ->default_str(std::string(std::get<std::string_view>(usual)));
      break;
    }
    case plan::Unit::text: {
      const auto say = [set](const std::string& said) { set(std::string_view(said)); };
      option = command.add_option_function<std::string>(text.option, say, text.help)
                   ->type_name("FILE|JSON");
      break;
    }
    case plan::Unit::numbers:
      option = command.add_option_function<std::vector<uint64_t>>(text.option, set, text.help)
                   ->type_name("N,N,...")
                   ->transform(whole_number(text.least, text.most))
                   ->delimiter(',')
                   ->expected(1, static_cast<int>(std::get<std::vector<uint64_t>>(usual).size()));
      break;
  }
  option->required(text.required);
  // The help does not show limits that are none, nor defaults that are derived.
  const auto* const number = std::get_if<uint64_t>(&usual);
  if (number != nullptr && !text.required && *number >= text.least && *number < text.most) {
    option->default_str(std::to_string(*number));
  }
}

/// The command of a mechanism, without what choosing it does. `asked` must outlive the parsing.
template <plan::Mechanism M>
CLI::App* explain_command(CLI::App& explain, Explain<M>& asked) {
  const plan::Words& words = M::kWords;
  CLI::App* const command = explain.add_subcommand(words.command, words.help);
  command->fallthrough();
  command->add_option("model", asked.source, "A model file, or a name: tcp, tcp@2; none: no model")
      ->required()
      ->type_name("FILE|NAME");
  for (const auto& field : M::fields()) add_field(*command, field, asked.request);
  for (const auto& [fact, field] : plan::surroundings_fields()) {
    if (has(M::Asked::kFacts, fact)) add_field(*command, field, asked.request.surroundings);
  }
  if (std::is_same_v<typename M::Model, plan::CompiledPath>) {
    add_value(*command, "--path", asked.path,
              "Path of the model, e.g. inter-node (default: its first)", "NAME");
  }
  command->footer(std::string(words.notes) +
                  "Exit codes: 0, 2 no such model, path or file, 3 malformed file, 4 no server.\n\n"
                  "Example:\n  stripline explain " +
                  words.command + " tcp " + words.example + "\n" + kServiceOptions);
  return command;
}

}  // namespace stripline::cli
