#include "suites/bench/reference.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "optimizer/experiment/json.h"
#include "optimizer/experiment/requirements.h"
#include "optimizer/model/sections.h"
#include "suites/bench/points.h"
#include "suites/registry.h"

namespace stripline::suites::bench {
namespace {

using experiment::Experiment;
using experiment::Factor;

// Grids longer than this show their ends.
constexpr size_t kMostValues = 8;

template <typename Range>
std::string joined(const Range& range, const char* separator = ", ") {
  std::string out;
  for (const auto& element : range) {
    if (!out.empty()) out += separator;
    out += element;
  }
  return out;
}

std::string grid_text(const Factor& factor) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < factor.values.size(); ++i) {
    if (factor.values.size() > kMostValues && i == kMostValues - 2) {
      texts.push_back("... (" + std::to_string(factor.values.size()) + " values)");
      i = factor.values.size() - 1;
    }
    texts.push_back(value_text(factor, factor.values[i]));
  }
  return joined(texts);
}

std::string ranks_text(const Experiment& e) {
  std::string text = std::to_string(e.min_ranks);
  if (e.min_ranks != e.max_ranks) text += " to " + std::to_string(e.max_ranks);
  if (e.rank_count != experiment::RankCount::any) text += ", " + describe(e.rank_count);
  return text;
}

std::string metric_text(const Experiment& e) {
  return e.metric.name + " [" + e.metric.unit + "], " +
         (e.metric.lower_is_better ? "lower" : "higher") + " is better";
}

// Breaks at spaces so that no line is longer than 88 columns behind the indentation.
std::string wrapped(const std::string& text, const std::string& indent) {
  constexpr size_t kWidth = 88;
  std::string out;
  std::string line;
  size_t at = 0;
  while (at < text.size()) {
    const size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      out += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = space + 1;
  }
  return out + indent + line + "\n";
}

// A page of the details of the experiments whose names begin so, unless an earlier one has them.
struct Page {
  const char* begins;
  const char* file;
  const char* title;
};
constexpr std::array<Page, 5> kPages = {{
    {"micro.collective_", "collectives.md", "Experiments: collective operations"},
    {"micro.", "micro.md", "Experiments: what single operations and mechanisms cost"},
    {"kernel.nas_", "nas.md", "Experiments: NAS Parallel Benchmarks"},
    {"kernel.prk_", "prk.md", "Experiments: Parallel Research Kernels"},
    {"", "kernels.md", "Experiments: kernels"},
}};

const Page& page_of(const Experiment& e) {
  return *std::ranges::find_if(kPages,
                               [&](const Page& page) { return e.name.starts_with(page.begins); });
}

// What is decided by a section of the model.
std::string decides(std::string_view name) {
  for (const model::Section& section : model::sections()) {
    if (section.member.name == name) return section.decides;
  }
  return "";
}

// One section of the feeds, as the first dots divide them: "`network`: L, segments". Which
// operation of a network is in the experiment's variants.
std::string feeds_of(const Experiment& e, const std::string& section) {
  std::vector<std::string> parameters;
  for (const std::string& feed : e.feeds) {
    if (!feed.starts_with(section + ".")) continue;
    const size_t dot = section == "network" ? feed.rfind('.') : section.size();
    std::string parameter = feed.substr(dot + 1);
    if (std::ranges::find(parameters, parameter) == parameters.end()) {
      parameters.push_back(std::move(parameter));
    }
  }
  return "`" + section + "`: " + joined(parameters);
}

std::string overview_row(const Experiment& e) {
  std::vector<std::string> sections;
  std::vector<std::string> texts;
  std::vector<std::string> plans;
  for (const std::string& feed : e.feeds) {
    const std::string section = feed.substr(0, feed.find('.'));
    if (std::ranges::find(sections, section) != sections.end()) continue;
    sections.push_back(section);
    texts.push_back(feeds_of(e, section));
    plans.push_back(decides(section));
  }
  std::string anchor = e.name;
  std::erase(anchor, '.');
  const bool emulated =
      !experiment::unmet_requirement(e, {.ranks = e.min_ranks, .fabric = "emulated:modern-rdma"});
  return "| [`" + e.name + "`](experiments/" + page_of(e).file + "#" + anchor + ") | " + e.title +
         " | " + joined(texts, "; ") + " | " + joined(plans, "; ") + " | " +
         (emulated ? "all" : "not emulated ones") + " |\n";
}

// The section of an experiment on its page.
std::string details(const Experiment& e) {
  std::string out = "\n## `" + e.name + "`\n\n" + e.title + " (version " +
                    std::to_string(e.version) + ").\n\n" + wrapped(e.description, "") + "\n";
  out += "* variants: `" + joined(e.variants, "`, `") + "`; the first is the baseline\n";
  out += "* one sample: " + metric_text(e) + "\n";
  out += "* ranks: " + ranks_text(e) + "\n";
  out += "* verification: " + e.verification + "\n";
  out += "* feeds: " + (e.feeds.empty() ? "nothing" : "`" + joined(e.feeds, "`, `") + "`") + "\n";
  if (e.factors.empty()) return out;
  out += "\n| factor | unit | meaning | grid |\n|---|---|---|---|\n";
  for (const Factor& factor : e.factors) {
    out += "| `" + factor.name + "` | " + factor.unit + " | " + factor.description + " | " +
           grid_text(factor) + " |\n";
  }
  return out;
}

constexpr const char* kWritten =
    "<!-- Written by 'stripline-bench list --markdown docs'; a test keeps it current. -->\n\n";

}  // namespace

std::string reference_text() {
  std::string out;
  for (const Benchmark& benchmark : benchmarks()) {
    const Experiment& e = benchmark.declaration;
    out += e.name + "  " + e.title + "\n";
    out += wrapped(e.description, "    ");
    out += "    variants: " + joined(e.variants) + "\n";
    out += "    metric:   " + metric_text(e) + "\n";
    out += "    ranks:    " + ranks_text(e) + "\n";
    for (const Factor& factor : e.factors) {
      out += wrapped(factor.name + ": " + factor.description + " Grid: " + grid_text(factor),
                     "      ");
    }
    if (!e.feeds.empty()) out += wrapped("feeds:    " + joined(e.feeds), "    ");
    out += "\n";
  }
  return out +
         "A factor that is left out of 'run' takes the first value of its grid; "
         "NAME=all takes the grid.\n";
}

std::vector<ReferencePage> reference_pages() {
  std::vector<ReferencePage> pages = {
      {"experiments.md",
       "# Experiments\n\n" + std::string(kWritten) +
           "What `stripline bench` can run and agents can be asked to measure. A factor that is "
           "left out\n"
           "takes the first value of its grid; `--param NAME=all` takes the whole grid, "
           "`--param NAME=V1,V2`\n"
           "some values. How samples become a model is in [measurement.md](measurement.md).\n\n"
           "Experiments that feed a section of the model are what campaigns measure; the others "
           "compare\n"
           "methods, and feed nothing.\n\n"
           "| experiment | measures | feeds | for plans of | fabrics |\n|---|---|---|---|---|\n"}};
  for (const Page& page : kPages) {
    pages.push_back({std::string("experiments/") + page.file,
                     std::string("# ") + page.title + "\n\n" + kWritten +
                         "All experiments are in [one table](../experiments.md).\n"});
  }
  for (const Benchmark& benchmark : benchmarks()) {
    const Experiment& e = benchmark.declaration;
    pages.front().text += overview_row(e);
    pages[1 + static_cast<size_t>(&page_of(e) - kPages.data())].text += details(e);
  }
  return pages;
}

Json reference_json() {
  Json all = Json::array();
  for (const Benchmark& benchmark : benchmarks()) {
    all.push_back(experiment::to_json(benchmark.declaration));
  }
  return all;
}

}  // namespace stripline::suites::bench
