#include "base/bash_completion.h"

#include <algorithm>
#include <string_view>

#include "base/command_line.h"
#include "base/grammar_facts.h"

namespace stripline {
namespace {

// What all files have in common; NAME stands for the name of the function.
constexpr std::string_view kEngine = R"bash(
NAME_folder=${BASH_SOURCE[0]}
[[ $NAME_folder == */* ]] || NAME_folder=./$NAME_folder
NAME_folder=$(CDPATH= cd -- "${NAME_folder%/*}/" && pwd)

# NAME_reply VALUES CURRENT: what may stand here.
NAME_reply() {
  case $1 in
    @file)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$2")
      ;;
    @folder)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$2")
      ;;
    @program)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -c -- "$2"; compgen -f -- "$2")
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
  esac
}

# NAME_delegate "PROGRAM [COMMAND]" FIRST: the words from number FIRST on are those of another program.
NAME_delegate() {
  local -a program=($1)
  local function=_${program[0]//-/_}
  declare -F "$function" >/dev/null || source "$NAME_folder/${program[0]}" 2>/dev/null || return 0
  COMP_CWORD=$((COMP_CWORD - $2 + ${#program[@]}))
  COMP_WORDS=("${program[@]}" "${COMP_WORDS[@]:$2}")
  "$function"
}

NAME() {
  local current=${COMP_WORDS[COMP_CWORD]} path= option= word commands options operand delegate
  local -A values
  local -i i
  COMPREPLY=()
  NAME_grammar ''
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ -n $option ]]; then
      # bash takes --option=value for three words.
      [[ $word == '=' ]] || option=
    elif [[ $word == -- ]]; then
      word=@file
      ((i + 1 < COMP_CWORD)) || word=@program
      NAME_reply "$word" "$current"
      return
    elif [[ -n ${values[$word]+set} ]]; then
      option=$word
    elif [[ ${COMP_WORDS[i + 1]} == '=' && -n ${values[$word=]+set} ]]; then
      option=$word=
    elif [[ $word != -* && " $commands " == *" $word "* ]]; then
      path+=${path:+ }$word
      NAME_grammar "$path"
      if [[ -n $delegate ]]; then
        NAME_delegate "$delegate" $((i + 1))
        return
      fi
    fi
  done
  [[ $current != '=' ]] || current=
  if [[ -n $option ]]; then
    NAME_reply "${values[$option]}" "$current"
  elif [[ $current == -* ]]; then
    NAME_reply "$options" "$current"
  elif [[ -n $commands ]]; then
    NAME_reply "$commands" "$current"
  else
    NAME_reply "$operand" "$current"
  fi
}
)bash";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// What a value may be: words, files, folders, or nothing that is known.
std::string values_of(const CLI::Option& option) {
  const ValueType type = value_type_of(option);
  if (!type.choices.empty()) return joined(type.choices);
  for (const char* const file : {"FILE", "BUNDLE", "PATH", "CAMPAIGN.json"}) {
    if (type.name.find(file) != std::string::npos) return "@file";
  }
  return type.name.find("DIR") != std::string::npos ? "@folder" : "";
}

// A case for the command and for those below it.
void add_cases(const CLI::App& command, const std::string& path, const Delegates& delegates,
               std::string& out) {
  std::vector<std::string> commands;
  for (const CLI::App* each : commands_of(command)) commands.push_back(each->get_name());
  std::vector<std::string> options;
  std::string values;
  for (const CLI::Option* option : options_of(command)) {
    for (const std::string& name : names_of(*option)) {
      options.push_back(name);
      const std::string known = values_of(*option);
      if (takes_value(*option)) {
        values += " [" + name + "]=" + quoted(known);
      } else if (!known.empty()) {
        values += " [" + name + "=]=" + quoted(known);
      }
    }
  }
  const auto positionals = positionals_of(command);
  const auto delegate = delegates.find(path);
  out += "    " + quoted(path) + ")\n      commands=" + quoted(joined(commands)) +
         "\n      options=" + quoted(joined(options)) +
         "\n      operand=" + quoted(positionals.empty() ? "" : values_of(*positionals.front())) +
         "\n      delegate=" + quoted(delegate == delegates.end() ? "" : delegate->second) +
         "\n      values=(" + (values.empty() ? "" : values.substr(1)) + ")\n      ;;\n";
  for (const CLI::App* each : commands_of(command)) {
    add_cases(*each, path.empty() ? each->get_name() : path + " " + each->get_name(), delegates,
              out);
  }
}

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

std::string bash_completion(const CLI::App& program, const Delegates& delegates) {
  const std::string name = program.get_name();
  std::string function = "_" + name;
  std::ranges::replace(function, '-', '_');
  std::string cases;
  add_cases(program, "", delegates, cases);
  std::string engine(kEngine);
  replace_all(engine, "NAME", function);
  return "# Completion of " + name + " in bash, written by the program from its command line.\n" +
         "\n# Sets what may follow the command of these words.\n" + function +
         "_grammar() {\n  case $1 in\n" + cases + "  esac\n}\n" + engine + "\ncomplete -F " +
         function + " " + name + "\n";
}

}  // namespace stripline
