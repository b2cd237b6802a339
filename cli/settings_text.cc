#include "cli/settings_text.h"

#include <map>
#include <utility>

#include "base/formatted.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/table.h"
#include "cli/format.h"

namespace stripline::cli {
namespace {

constexpr std::string_view kWhat = "packed export";

struct Document {
  Json whole;
  const Json* record = nullptr;
  const Json* files = nullptr;
};

Status read_document(const std::string& packed, Document& document) {
  STRIPLINE_ASSIGN_OR_RETURN(document.whole, parse_json(packed, kWhat));
  STRIPLINE_ASSIGN_OR_RETURN(document.record, get_object(document.whole, "record", kWhat));
  STRIPLINE_ASSIGN_OR_RETURN(document.files, get_object(document.whole, "files", kWhat));
  return {};
}

std::string text_of(const Json& value) {
  return printable_line(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? "-" : text_of(*found);
}

// What departs from the default, by a name that both of two exports give it.
Result<std::map<std::string, std::string>> departures(const Json& record) {
  std::map<std::string, std::string> found = {{"version", member(record, "version")},
                                              {"path", member(record, "path")},
                                              {"ranks", member(record, "ranks")}};
  if (const auto settings = record.find("settings"); settings != record.end()) {
    for (const auto& [name, value] : settings->items()) {
      found[printable_line(name)] = text_of(value);
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* cells, get_array(record, "cells", kWhat));
  for (const Json& cell : *cells) {
    const std::string chosen = member(cell, "chosen");
    if (chosen == "default") continue;
    found[member(cell, "collective") + ", " + member(cell, "ranks") + " ranks, " +
          member(cell, "bytes") + " bytes"] = chosen;
  }
  return found;
}

// That the target reads what is exported, by a probe of each mechanism.
std::string proof_text(const Json& record) {
  const std::string not_shown = "not shown";
  const auto proofs = record.find("proofs");
  if (proofs == record.end() || !proofs->is_array()) return not_shown;
  std::string factors;
  for (const Json& one : *proofs) {
    const auto factor = one.find("factor");
    if (factor == one.end() || !factor->is_number()) return not_shown;
    factors.append(factors.empty() ? "" : " and ").append(formatted("%.2f", factor->get<double>()));
  }
  return factors.empty() ? not_shown : "yes: a probe took " + factors + " times as long";
}

}  // namespace

Result<std::string> settings_text(const std::string& packed) {
  Document document;
  STRIPLINE_RETURN_IF_ERROR(read_document(packed, document));
  const Json& record = *document.record;
  std::string text;
  for (const auto& [label, key] :
       {std::pair("target", "target"), std::pair("version", "version"), std::pair("path", "path"),
        std::pair("ranks", "ranks"), std::pair("tuned on", "host"), std::pair("kernel", "kernel"),
        std::pair("time", "time")}) {
    text += labelled_line(label, member(record, key));
  }
  text += labelled_line("validated", member(record, "validated") == "true" ? "yes" : "no");
  text += labelled_line("read", proof_text(record));
  for (const auto& [name, content] : document.files->items()) {
    text += "\n" + printable_line(name) + ":\n";
    if (content.is_string()) text += printable(content.get<std::string>());
  }
  return text;
}

Result<std::string> settings_diff(const std::string& a, const std::string& b,
                                  const std::string& one, const std::string& other) {
  Document first;
  Document second;
  STRIPLINE_RETURN_IF_ERROR(read_document(a, first));
  STRIPLINE_RETURN_IF_ERROR(read_document(b, second));
  STRIPLINE_ASSIGN_OR_RETURN(const auto before, departures(*first.record));
  STRIPLINE_ASSIGN_OR_RETURN(const auto now, departures(*second.record));
  const auto value_in = [](const std::map<std::string, std::string>& all, const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? std::string("default") : found->second;
  };
  std::map<std::string, std::string> names = before;
  names.insert(now.begin(), now.end());
  Table table({{"SETTING"}, {one}, {other}});
  for (const auto& [name, ignored] : names) {
    const std::string was = value_in(before, name);
    const std::string is = value_in(now, name);
    if (was != is) table.add({name, was, is});
  }
  return table.empty() ? "no setting differs\n" : table.text();
}

}  // namespace stripline::cli
