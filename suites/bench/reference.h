// The reference of all experiments, for `stripline-bench list`, docs/experiments.md and the pages
// in docs/experiments.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace stripline::suites::bench {

/// For a terminal.
std::string reference_text();
/// A page of docs, in Markdown.
struct ReferencePage {
  std::string file;  ///< below docs
  std::string text;
};
/// experiments.md, the table of all, and the pages with their details.
std::vector<ReferencePage> reference_pages();
/// An array of declarations.
Json reference_json();

}  // namespace stripline::suites::bench
