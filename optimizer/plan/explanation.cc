#include "optimizer/plan/explanation.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/quantity.h"

namespace stripline::plan {
namespace {

using Alternative = Explanation::Alternative;

// Lines of alternatives that a person reads.
constexpr size_t kMostAlternatives = 20;

std::string predicted_text(const Alternative& a) {
  std::string text = time_text(a.predicted_s);
  if (a.interval) {
    text += " [" + time_text(a.interval->low_s) + ", " + time_text(a.interval->high_s) + "]";
  }
  return text + a.more.text();
}

// The fastest first. The baseline, which was considered first, and what is chosen are among them.
std::string alternatives_text(const Explanation& e) {
  std::vector<const Alternative*> order;
  for (const Alternative& a : e.alternatives) order.push_back(&a);
  std::ranges::stable_sort(
      order, [](const auto* a, const auto* b) { return a->predicted_s < b->predicted_s; });
  std::string out;
  for (size_t i = 0; i < order.size(); ++i) {
    const bool chosen = order[i]->plan.text() == e.plan.text();
    if (i >= kMostAlternatives && !chosen && order[i] != &e.alternatives.front()) continue;
    out += (chosen ? "  * " : "    ") + order[i]->plan.text() + ": " + predicted_text(*order[i]) +
           "\n";
  }
  if (order.size() > kMostAlternatives) {
    out += "    others, of " + std::to_string(order.size()) + " in all: up to " +
           time_text(order.back()->predicted_s) + "\n";
  }
  return out;
}

// Pruned alternatives that read alike are one line; the least bound first.
std::string pruned_text(const Explanation& e) {
  struct Line {
    size_t count = 0;
    double least_s = std::numeric_limits<double>::infinity();
  };
  std::map<std::string, Line> lines;
  for (const auto& [what, bound_s] : e.pruned) {
    Line& line = lines[what.text()];
    ++line.count;
    line.least_s = std::min(line.least_s, bound_s);
  }
  std::multimap<double, std::string> order;
  for (const auto& [what, line] : lines) {
    const std::string times = line.count > 1 ? " (" + std::to_string(line.count) + ")" : "";
    order.emplace(line.least_s, "    " + what + times + ": at least " + time_text(line.least_s) +
                                    ", not considered further\n");
  }
  std::string out;
  for (const auto& [bound_s, text] : order) out += text;
  return out;
}

std::string sensitivities_text(const std::vector<Sensitivity>& sensitivities) {
  if (sensitivities.empty()) return {};
  std::string out = "the gain may be smaller by, if a parameter errs within its interval:\n";
  for (const Sensitivity& one : sensitivities) {
    out += "    " + std::string(to_string(one.source)) +
           (one.of_baseline ? " (of the baseline): " : ": ") + percent_text(one.gain_loss) + "\n";
  }
  return out;
}

Json alternative_json(const Alternative& a) {
  Json json = a.plan.json();
  json.update(a.more.json());
  json["text"] = a.plan.text();
  json["predicted_s"] = a.predicted_s;
  if (a.interval) {
    json["low_s"] = a.interval->low_s;
    json["high_s"] = a.interval->high_s;
  }
  return json;
}

}  // namespace

std::string_view to_string(Scope::Decider decider) {
  return decider == Scope::Decider::rank ? "each rank" : "one rank for all";
}

std::string_view to_string(Scope::Until until) {
  switch (until) {
    case Scope::Until::call:
      return "a call";
    case Scope::Until::site:
      return "a place of the program";
    case Scope::Until::inspection:
      return "an inspection";
    case Scope::Until::period:
      return "a period of an epoch";
    case Scope::Until::job:
      return "a job";
  }
  return {};
}

std::string_view short_text(Reason reason) {
  switch (reason) {
    case Reason::no_model:
      return "no model";
    case Reason::no_faster_plan:
      return "the fastest";
    case Reason::below_margin:
      return "below margin";
    case Reason::tuned:
    case Reason::measured:
      return "tuned";
    case Reason::forced:
      return "as asked";
    case Reason::own_memory:
      return "in reach";
    case Reason::tied:
    case Reason::guarded:
      return "by the guard";
  }
  return {};
}

std::string reason_text(const Explanation& e, const Words& words, double best_s) {
  const std::string likely = percent_text(gain_of(e.verdict.baseline_s, best_s));
  const std::string sure = percent_text(e.verdict.gain_low);
  const std::string required =
      " within the model's intervals; more than " + percent_text(e.minimum_gain) + " is required";
  switch (e.verdict.reason) {
    case Reason::no_model:
      return words.no_model;
    case Reason::no_faster_plan:
      return "no alternative is predicted to be faster than " + std::string(words.baseline);
    case Reason::below_margin:
      return "the best alternative gains " + likely + ", or as little as " + sure + required;
    case Reason::tuned:
      return "gains " + likely + ", and at least " + sure + required;
    case Reason::forced:
      return "asked for by the caller";
    case Reason::own_memory:
      return "loads and stores reach the data";
    case Reason::tied:
      return "not surely faster than the baseline, by the model; the site's guard compares them";
    case Reason::guarded:
      return "the baseline, as the site's guard decided, or to compare";
    case Reason::measured:
      return "a campaign found it to be the fastest";
  }
  return {};
}

std::string to_text(const Explanation& e, const Words& words) {
  std::string out = e.asked.text() + "\nplan: " + e.plan.text();
  if (e.has_times) {
    out += ", predicted " + time_text(e.verdict.predicted_s);
    if (words.baseline != nullptr) {
      out += ", " + std::string(words.baseline) + " " + time_text(e.verdict.baseline_s);
    }
  }
  out += "\n" + e.details + "why: " + e.why + "\n" + e.remarks.text();
  if (!e.has_times) return out;
  out += "alternatives, the fastest first" + std::string(words.legend) + ":\n";
  out += alternatives_text(e) + pruned_text(e) + sensitivities_text(e.sensitivities);
  if (e.entries.empty() && e.model.text().empty()) return out;
  out += "model entries:\n";
  for (const Row& entry : e.entries) out += "    " + entry.text() + "\n";
  if (!e.model.text().empty()) out += "    " + e.model.text() + "\n";
  return out;
}

Json to_json(const Explanation& e, const Words& words) {
  Json json = e.asked.json();
  json.update(e.remarks.json());
  json["why"] = e.why;
  json["plan"] = e.plan.json();
  json["plan"]["text"] = e.plan.text();
  json["plan"]["brief"] = e.brief;
  json["plan"]["reason"] = to_string(e.verdict.reason);
  json["plan"]["predicted_s"] = e.verdict.predicted_s;
  if (words.baseline != nullptr) {
    json["plan"]["baseline_s"] = e.verdict.baseline_s;
    json["plan"]["gain_low"] = e.verdict.gain_low;
  }
  if (!e.has_times) return json;
  json.update(e.model.json());
  if (words.baseline != nullptr) json["minimum_gain"] = e.minimum_gain;
  for (const char* const list : {"alternatives", "pruned", "sensitivities", "entries"}) {
    json[list] = Json::array();
  }
  for (const Alternative& a : e.alternatives) json["alternatives"].push_back(alternative_json(a));
  for (const auto& [what, bound_s] : e.pruned) {
    json["pruned"].push_back(what.json());
    json["pruned"].back()["text"] = what.text();
    json["pruned"].back()["bound_s"] = bound_s;
  }
  for (const Sensitivity& one : e.sensitivities) {
    json["sensitivities"].push_back({{"source", to_string(one.source)},
                                     {"of_baseline", one.of_baseline},
                                     {"gain_loss", one.gain_loss}});
  }
  for (const Row& entry : e.entries) json["entries"].push_back(entry.json());
  return json;
}

}  // namespace stripline::plan
