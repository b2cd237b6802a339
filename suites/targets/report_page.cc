#include "suites/targets/report_page.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/formatted.h"
#include "base/html_text.h"
#include "base/json.h"
#include "base/quantity.h"

namespace stripline::suites::tune {
namespace {

constexpr const char* kStyle =
    "body{font:15px/1.5 sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
    "table{border-collapse:collapse;margin:.5em 0 1.5em}"
    "td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left}"
    "td.n{text-align:right;color:#111}td.d{color:#666}"
    "pre{background:#f4f4f4;color:#111;padding:1em;overflow:auto}";

constexpr const char* kNotProven = "<p>That the target reads the files was not proven.</p>\n";

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// NaN without one.
double number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

uint64_t bytes_of(const Json& cell) {
  const auto found = cell.find("bytes");
  return found != cell.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::string size_text(const Json& cell) {
  return text_of(cell, "collective") == "barrier" ? "-" : exact_bytes_text(bytes_of(cell));
}

// "8 B to 128 B" of what is predicted.
std::string range_text(const Json& range) {
  const auto bytes = [&](const char* key) {
    const auto found = range.find(key);
    return found != range.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
  };
  const uint64_t first = bytes("first_bytes");
  const uint64_t last = bytes("last_bytes");
  if (text_of(range, "collective") == "barrier") return "all calls";
  return exact_bytes_text(first) + (last > first ? " to " + exact_bytes_text(last) : "");
}

// "0.52 (0.50 to 0.55)", or nothing.
std::string ratio_text(const Json& object, const char* value, const char* low, const char* high) {
  const double ratio = number_of(object, value);
  if (std::isnan(ratio)) return "";
  std::string text = formatted("%.2f", ratio);
  if (!std::isnan(number_of(object, low)) && !std::isnan(number_of(object, high))) {
    text += formatted(" (%.2f to %.2f)", number_of(object, low), number_of(object, high));
  }
  return text;
}

const Json& list_of(const Json& record, const char* key) {
  static const Json kNone = Json::array();
  const auto found = record.find(key);
  return found != record.end() && found->is_array() ? *found : kNone;
}

std::string row(const std::vector<std::string>& cells, const char* element = "td") {
  std::string html = "<tr>";
  for (const std::string& cell : cells) {
    html += std::string("<") + element + ">" + html_text(cell) + "</" + element + ">";
  }
  return html + "</tr>\n";
}

// A heading and a table; nothing without rows.
std::string table(const std::string& title, const std::vector<std::string>& heads,
                  const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return "";
  std::string html = "<h2>" + html_text(title) + "</h2>\n<table>\n" + row(heads, "th");
  for (const auto& one : rows) html += row(one);
  return html + "</table>\n";
}

bool departs(const Json& cell) { return text_of(cell, "chosen") != "default"; }

// Time over the default's: that of its validation, which chose nothing, where there is one.
struct Shown {
  double ratio = 0;
  std::string text;
};

Shown shown(const Json& record, const Json& cell) {
  for (const Json& check : list_of(record, "checks")) {
    const bool same = text_of(check, "stage") == "fitted" &&
                      text_of(check, "operation") == text_of(cell, "collective") &&
                      text_of(check, "ranks") == text_of(cell, "ranks") &&
                      bytes_of(check) == bytes_of(cell);
    if (same) return {number_of(check, "ratio"), ratio_text(check, "ratio", "lower", "upper")};
  }
  return {number_of(cell, "ratio"), ratio_text(cell, "ratio", "ratio_low", "ratio_high")};
}

// The greener, the more of the default's time is saved.
std::string map_cell(const Json& record, const Json& cell) {
  const std::string why = text_of(cell, "outcome");
  if (!departs(cell)) {
    return "<td class=\"d\" title=\"" + html_text("default: " + why) + "\">" +
           (why == "few_runs" ? "?" : "=") + "</td>";
  }
  const auto [ratio, text] = shown(record, cell);
  const double saved = std::isnan(ratio) ? 0 : std::clamp(1 - ratio, 0.0, 0.7);
  const std::string title = text_of(cell, "chosen") + ", " + text + " of the default's time";
  return formatted("<td class=\"n\" style=\"background:hsl(140,60%%,%.0f%%)\" title=\"",
                   95 - 50 * saved) +
         html_text(title) + "\">" + (std::isnan(ratio) ? "?" : formatted("%.2f", ratio)) + "</td>";
}

std::string gain_maps(const Json& record) {
  std::map<std::string, std::map<uint64_t, std::map<uint64_t, const Json*>>> maps;
  for (const Json& cell : list_of(record, "cells")) {
    const auto ranks = cell.find("ranks");
    if (ranks == cell.end() || !ranks->is_number_unsigned()) continue;
    maps[text_of(cell, "collective")][ranks->get<uint64_t>()][bytes_of(cell)] = &cell;
  }
  std::string html;
  for (const auto& [collective, by_ranks] : maps) {
    std::set<uint64_t> sizes;
    for (const auto& [ranks, by_size] : by_ranks) {
      for (const auto& [bytes, cell] : by_size) sizes.insert(bytes);
    }
    html += "<h3>" + html_text(collective) + "</h3>\n<table>\n<tr><th>ranks</th>";
    for (const uint64_t bytes : sizes) {
      html += "<th>" + (bytes == 0 ? std::string("-") : exact_bytes_text(bytes)) + "</th>";
    }
    html += "</tr>\n";
    for (const auto& [ranks, by_size] : by_ranks) {
      html += "<tr><th>" + std::to_string(ranks) + "</th>";
      for (const uint64_t bytes : sizes) {
        const auto cell = by_size.find(bytes);
        html += cell == by_size.end() ? "<td></td>" : map_cell(record, *cell->second);
      }
      html += "</tr>\n";
    }
    html += "</table>\n";
  }
  if (html.empty()) return html;
  return "<h2>Gains</h2>\n<p>Time over the default's, by ranks and size, on the fresh launches of "
         "the validation. = keeps the default, ? was not measured often enough.</p>\n" +
         html;
}

// The knobs that do most come first; those that were not measured last.
std::string knobs_table(const Json& record) {
  std::vector<std::pair<double, std::vector<std::string>>> rows;
  for (const Json& knob : list_of(record, "knobs")) {
    const double ratio = number_of(knob, "ratio");
    const std::string failure = text_of(knob, "failure");
    const std::string together = text_of(knob, "together");
    const bool measured = !std::isnan(ratio) && ratio > 0 && text_of(knob, "outcome") != "few_runs";
    rows.push_back({measured ? std::abs(std::log(ratio)) : -1,
                    {text_of(knob, "name"), text_of(knob, "value"),
                     measured ? ratio_text(knob, "ratio", "ratio_low", "ratio_high") : "",
                     together.empty() ? text_of(knob, "outcome") : together, failure}});
  }
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& one) { return one.first; });
  std::vector<std::vector<std::string>> texts;
  for (auto& [effect, cells] : rows) texts.push_back(std::move(cells));
  return table("Knobs, by what they do",
               {"knob", "value", "time / default's", "found", "why it is not taken"}, texts);
}

// A sentence for each range of sizes with one choice.
std::string rules_list(const Json& record) {
  std::string html;
  const Json& cells = list_of(record, "cells");
  for (size_t i = 0; i < cells.size();) {
    size_t end = i + 1;
    const auto same = [&](const Json& other) {
      return text_of(other, "collective") == text_of(cells[i], "collective") &&
             text_of(other, "ranks") == text_of(cells[i], "ranks") &&
             text_of(other, "chosen") == text_of(cells[i], "chosen");
    };
    while (end < cells.size() && same(cells[end])) ++end;
    if (departs(cells[i])) {
      std::string sentence = text_of(cells[i], "collective") + " of " + text_of(cells[i], "ranks") +
                             " ranks uses " + text_of(cells[i], "chosen") + " for " +
                             size_text(cells[i]);
      if (end - i > 1) sentence += " to " + size_text(cells[end - 1]);
      html += "<li>" + html_text(sentence) + "</li>\n";
    }
    i = end;
  }
  for (const Json& one : list_of(record, "predicted")) {
    html += "<li>" +
            html_text(text_of(one, "collective") + " of " + text_of(one, "ranks") + " ranks uses " +
                      text_of(one, "chosen") + " for " + range_text(one) +
                      ", predicted, as the numbers of ranks on both sides agree") +
            "</li>\n";
  }
  const auto settings = record.find("settings");
  if (settings != record.end() && settings->is_object()) {
    for (const auto& [name, value] : settings->items()) {
      html += "<li>" + html_text(name + " is " + text_of(*settings, name.c_str())) + "</li>\n";
    }
  }
  return html.empty() ? "<p>The default is kept everywhere.</p>\n"
                      : "<h2>What the settings say</h2>\n<ul>\n" + html +
                            "</ul>\n<p>Everything else keeps the default.</p>\n";
}

std::vector<std::string> cell_columns(const Json& cell) {
  return {text_of(cell, "collective"), text_of(cell, "ranks"), size_text(cell)};
}

std::vector<std::vector<std::string>> violations_of(const Json& record, const char* key,
                                                    const char* who) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& one : list_of(record, key)) {
    std::vector<std::string> cells = cell_columns(one);
    cells.insert(cells.begin(), {who, text_of(one, "guideline")});
    cells.push_back(formatted("%.2f", number_of(one, "ratio")));
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::string tables_of_what_was_seen(const Json& record) {
  std::vector<std::vector<std::string>> rejected;
  for (const Json& one : list_of(record, "rejected")) {
    std::vector<std::string> cells = cell_columns(one);
    cells.push_back(text_of(one, "candidate"));
    cells.push_back(text_of(one, "reason"));
    rejected.push_back(std::move(cells));
  }
  auto violations = violations_of(record, "violations", "the default");
  for (auto& one : violations_of(record, "tuned_violations", "the tuned settings")) {
    violations.push_back(std::move(one));
  }
  std::vector<std::vector<std::string>> stages;
  for (const Json& one : list_of(record, "stages")) {
    stages.push_back({text_of(one, "stage"), text_of(one, "passed") == "true" ? "passed" : "failed",
                      text_of(one, "verdict")});
  }
  std::vector<std::vector<std::string>> checks;
  for (const Json& one : list_of(record, "checks")) {
    checks.push_back({text_of(one, "operation"), text_of(one, "ranks"),
                      exact_bytes_text(bytes_of(one)), text_of(one, "type"),
                      text_of(one, "in_place") == "true" ? "in place" : "",
                      ratio_text(one, "ratio", "lower", "upper"), text_of(one, "verdict")});
  }
  return table("Left out", {"collective", "ranks", "bytes", "alternative", "why"}, rejected) +
         table("Performance guidelines that are violated",
               {"by", "guideline", "collective", "ranks", "bytes", "ratio"}, violations) +
         table("Validation", {"stage", "", ""}, stages) +
         table("Compared with the default, on fresh launches",
               {"operation", "ranks", "bytes", "type", "", "time / default's", "verdict"}, checks);
}

std::string proof_text(const Json& record) {
  std::string html;
  for (const Json& proof : list_of(record, "proofs")) {
    const double factor = number_of(proof, "factor");
    if (std::isnan(factor)) return kNotProven;
    std::string what = text_of(proof, "candidate");
    std::string operation = text_of(proof, "collective");
    if (const auto setting = proof.find("setting"); setting != proof.end()) {
      what = text_of(*setting, "name") + "=" + text_of(*setting, "value");
      operation = text_of(proof, "operation");
    }
    html += "<p>Read by the target: a probe (" + html_text(what) + " for " +
            html_text(operation + " of " + text_of(proof, "ranks")) + " ranks) took " +
            formatted("%.2f", factor) + " times as long.</p>\n";
  }
  return html.empty() ? kNotProven : html;
}

}  // namespace

Result<std::string> report_page(const Bundle& bundle) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json record, parse_json(bundle.record, "export record"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string target,
                             get_string(record, "target", "export record"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string version,
                             get_string(record, "version", "export record"));
  const std::string title = "Settings of " + target + " " + version;
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>" +
      html_text(title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n<h1>" +
      html_text(title) + "</h1>\n<p>" +
      html_text(text_of(record, "time") + ", by " + text_of(record, "user") + " on " +
                text_of(record, "host") + " (Linux " + text_of(record, "kernel") + "), over " +
                text_of(record, "path") + ", ranks " + text_of(record, "ranks")) +
      ".</p>\n<p>" +
      (text_of(record, "validated") == "true" ? "Validated in the target."
                                              : "<strong>Not validated.</strong>") +
      "</p>\n" + proof_text(record) + rules_list(record) + gain_maps(record) + knobs_table(record) +
      tables_of_what_was_seen(record);
  for (const ExportFile& file : bundle.files) {
    html += "<h2>" + html_text(file.name) + "</h2>\n<pre>" + html_text(file.text) + "</pre>\n";
  }
  return html + "</body>\n</html>\n";
}

}  // namespace stripline::suites::tune
