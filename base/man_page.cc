#include "base/man_page.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <sstream>
#include <string_view>

#include "base/command_line.h"
#include "base/grammar_facts.h"

namespace stripline {
namespace {

// Groups of paragraphs that have names of their own in manuals.
std::string section_of(const std::string& heading) {
  if (heading.starts_with("Exit codes") || heading.starts_with("Exit status")) return "EXIT STATUS";
  if (heading.starts_with("Environment")) return "ENVIRONMENT";
  if (heading.starts_with("Example")) return "EXAMPLES";
  return "";
}

// The next character of UTF-8 text, as groff names those beyond ASCII.
std::string escape_next(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) {
    text.remove_prefix(1);
    if (first == '\\') return "\\e";
    if (first == '-') return "\\-";
    if (first == '\'') return "\\(aq";
    if (first == '`') return "\\(ga";
    if (first == '^') return "\\(ha";
    if (first == '~') return "\\(ti";
    return std::string(1, static_cast<char>(first));
  }
  const size_t length = std::min<size_t>(first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2, text.size());
  uint32_t code = first & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  text.remove_prefix(length);
  std::ostringstream name;
  name << "\\[u" << std::hex << std::uppercase;
  name.width(4);
  name.fill('0');
  name << code << "]";
  return name.str();
}

std::string escape(std::string_view text) {
  std::string out;
  while (!text.empty()) out += escape_next(text);
  return out;
}

// A line of text: no request, whatever it begins with.
std::string text_line(std::string_view line) {
  return (line.starts_with('.') ? "\\&" : "") + escape(line) + "\n";
}

bool is_indented(const std::string& line) { return line.starts_with(' '); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// True for a line that names what is indented below it.
bool is_heading(const std::vector<std::string>& lines, size_t i) {
  return !lines[i].empty() && !is_indented(lines[i]) && lines[i].ends_with(':') &&
         i + 1 < lines.size() && is_indented(lines[i + 1]);
}

// Paragraphs are filled; what is indented stays as it is.
std::string paragraphs(const std::vector<std::string>& lines) {
  std::string out;
  bool verbatim = false;
  bool begins = true;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (verbatim && !is_indented(line)) {
      out += ".fi\n";
      verbatim = false;
      begins = true;
    }
    if (line.empty()) {
      begins = true;
      continue;
    }
    if (begins) out += ".PP\n";
    begins = false;
    if (is_indented(line) && !verbatim) {
      out += ".nf\n";
      verbatim = true;
    }
    out += text_line(line);
  }
  if (verbatim) out += ".fi\n";
  return out;
}

// Text of a help, divided by headings that are sections of a manual: "" is what belongs to none.
struct Texts {
  std::string plain;
  std::vector<std::pair<std::string, std::string>> sections;
};

Texts divide(const std::string& text) {
  Texts texts;
  const std::vector<std::string> lines = lines_of(text);
  std::vector<std::string> plain;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string section = is_heading(lines, i) ? section_of(lines[i]) : "";
    if (section.empty()) {
      plain.push_back(lines[i]);
      continue;
    }
    std::vector<std::string> inside;
    while (i + 1 < lines.size() && is_indented(lines[i + 1])) inside.push_back(lines[++i]);
    texts.sections.emplace_back(section, paragraphs(inside));
  }
  texts.plain = paragraphs(plain);
  return texts;
}

// A section of the page; empty where there is nothing to say.
std::string section(const std::string& name, const std::string& content) {
  return content.empty() ? "" : ".SH " + name + "\n" + content;
}

std::string default_of(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  // Descriptions that speak of it say more, and what is captured may be of this machine.
  const bool described = option.get_description().find("default") != std::string::npos;
  return described || text == "[]" || text == "{}" ? "" : text;
}

std::string option_text(const CLI::Option& option) {
  const ValueType type = value_type_of(option);
  std::string out = ".TP\n";
  if (option.get_positional()) {
    out += "\\fI" + escape(type.name.empty() ? option.get_name() : type.name) + "\\fR\n";
  } else {
    std::string tag;
    for (const std::string& name : names_of(option)) {
      tag += (tag.empty() ? "" : ", ") + ("\\fB" + escape(name) + "\\fR");
    }
    if (takes_value(option)) tag += " \\fI" + escape(type.name) + "\\fR";
    out += tag + "\n";
  }
  std::string text = option.get_description();
  std::ranges::replace(text, '\n', ' ');
  std::string words;
  for (const std::string& word : type.choices) words += (words.empty() ? "" : ", ") + word;
  std::string facts;
  const auto add = [&](const std::string& fact) { facts += (facts.empty() ? "" : "; ") + fact; };
  if (!words.empty()) add("one of " + words);
  if (const std::string value = default_of(option); takes_value(option) && !value.empty()) {
    add("default: " + value);
  }
  if (!option.get_envname().empty()) add("environment: " + option.get_envname());
  if (option.get_required() && !option.get_positional()) add("required");
  if (!text.empty()) out += text_line(text);
  if (!facts.empty()) out += text_line("(" + facts + ")");
  return out;
}

std::string options_text(const CLI::App& command, bool inherited) {
  std::string out;
  for (const CLI::Option* option : positionals_of(command)) out += option_text(*option);
  const std::vector<const CLI::Option*> own = command.get_options();
  for (const CLI::Option* option : options_of(command)) {
    if (inherited || std::ranges::find(own, option) != own.end()) out += option_text(*option);
  }
  return out;
}

// The usage line as the help of the command shows it, without "Usage: ".
std::string usage_of(const CLI::App& command, const std::string& name) {
  std::string usage = "Usage: " + name + " [OPTIONS]";
  if (const auto formatter = std::dynamic_pointer_cast<CLI::Formatter>(command.get_formatter())) {
    usage = formatter->make_usage(&command, name);
  }
  std::istringstream words(usage);
  std::string out;
  for (std::string word; words >> word;) {
    if (word != "Usage:") out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

std::string hyphenated(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

class Writer {
 public:
  Writer(const CLI::App& program, int manual_section, const Delegates& delegates)
      : program_(&program), section_(std::to_string(manual_section)), delegates_(&delegates) {}

  std::vector<ManPage> pages() {
    const std::vector<const CLI::App*> commands = commands_of(*program_);
    const bool deep = std::ranges::any_of(
        commands, [](const CLI::App* command) { return !commands_of(*command).empty(); });
    const std::string name = program_->get_name();
    std::vector<ManPage> pages = {page(*program_, name, deep)};
    if (!deep) return pages;
    for (const CLI::App* command : commands) {
      if (!delegates_->contains(command->get_name())) {
        pages.push_back(page(*command, name + " " + command->get_name(), false));
      }
    }
    return pages;
  }

 private:
  ManPage page(const CLI::App& command, const std::string& name, bool others) const {
    const std::vector<std::string> described = lines_of(command.get_description());
    // The first paragraph in one line is what the page is found by; the rest begins the text.
    std::string summary;
    std::string rest;
    bool first = true;
    for (const std::string& line : described) {
      if (line.empty()) first = false;
      if (first) {
        summary += (summary.empty() ? "" : " ") + line;
      } else {
        rest += line + "\n";
      }
    }
    if (const size_t end = summary.find(". "); end != std::string::npos) {
      rest = summary.substr(end + 2) + "\n" + rest;
      summary.resize(end);
    }
    while (summary.ends_with('.')) summary.pop_back();

    const std::string title = hyphenated(name);
    std::string upper = title;
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    Texts texts = divide(rest + "\n" + command.get_footer());
    std::string out = ".\\\" Written by " + program_->get_name() + " from its command line.\n";
    out += ".TH " + escape(upper) + " " + section_ + " \"\" \"Stripline " +
           std::string(program_version()) + "\" \"Stripline\"\n";
    out += ".SH NAME\n" + escape(title) + " \\- " + escape(summary) + "\n";
    out += ".SH SYNOPSIS\n.PP\n" + text_line(usage_of(command, name));
    out += section("DESCRIPTION", texts.plain);
    out += section("OPTIONS", options_text(command, true));
    out += section("COMMANDS", commands_text(command, name, others));
    for (const auto& [heading, content] : texts.sections) out += section(heading, content);
    out += ".SH SEE ALSO\n.PP\n" + see_also(command, others);
    return {title, out};
  }

  Delegates::const_iterator delegate_of(const std::string& whole) const {
    return delegates_->find(whole.substr(program_->get_name().size() + 1));
  }
  bool is_delegated(const std::string& whole) const {
    return delegate_of(whole) != delegates_->end();
  }

  // The page that describes a command of this program: "stripline-campaign(1)". Programs that carry
  // out commands of others are for all users.
  std::string page_of(const std::string& whole) const {
    const auto delegate = delegate_of(whole);
    if (delegate == delegates_->end()) return hyphenated(whole) + "(" + section_ + ")";
    return delegate->second.substr(0, delegate->second.find(' ')) + "(1)";
  }

  std::string commands_text(const CLI::App& parent, const std::string& name, bool others) const {
    std::string out;
    for (const CLI::App* command : commands_of(parent)) {
      const std::string whole = name + " " + command->get_name();
      if (others || is_delegated(whole)) {
        const std::vector<std::string> described = lines_of(command->get_description());
        out += ".TP\n\\fB" + escape(whole) + "\\fR\n" +
               text_line((described.empty() ? "" : described.front() + ": ") + page_of(whole));
      } else {
        out += ".SS " + escape(usage_of(*command, whole)) + "\n";
        out += paragraphs(lines_of(command->get_description())) + options_text(*command, false);
        out += paragraphs(lines_of(command->get_footer()));
      }
    }
    return out;
  }

  std::string see_also(const CLI::App& command, bool others) const {
    std::string out;
    if (&command != program_) out += escape(program_->get_name()) + "(" + section_ + "),\n";
    if (others) {
      for (const CLI::App* each : commands_of(command)) {
        out += escape(page_of(program_->get_name() + " " + each->get_name())) + ",\n";
      }
    }
    if (&command == program_ && !others && program_->get_name() != "stripline") {
      out += "stripline(1),\n";
    }
    return out + "the documentation, which is installed in share/doc/stripline/docs\n";
  }

  const CLI::App* program_;
  std::string section_;
  const Delegates* delegates_;
};

}  // namespace

std::vector<ManPage> man_pages(const CLI::App& program, int section, const Delegates& delegates) {
  return Writer(program, section, delegates).pages();
}

}  // namespace stripline
