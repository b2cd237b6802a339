#include "runtime/decide/trace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/formatted.h"
#include "base/place_text.h"
#include "base/quantity.h"
#include "optimizer/model/feedback.h"

namespace stripline::decide {
namespace {

// Rows of a table that a person reads.
constexpr size_t kMostRows = 30;
// A prediction that is farther off than by this factor is said to have missed.
constexpr double kMissed = 1.25;

std::string_view name_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string place_of(std::string_view file, int line) { return place_text(name_of(file), line); }

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string saved_text(const Savings& savings) {
  const double saved = 1 - savings.actual_s / savings.baseline_s;
  const double error = std::sqrt(savings.squared_error) / savings.baseline_s;
  const std::string checks =
      ", by " + formatted("%.0f", savings.checks) + (savings.checks == 1 ? " check" : " checks");
  // A loss in percent has no end.
  if (saved < 0) {
    return "tuned took " + formatted("%.2f", 1 - saved) + " +- " + formatted("%.2f", error) +
           " times as long as the baseline" + checks;
  }
  return "tuned saved " + formatted("%.1f", 100 * saved) + " % +- " +
         formatted("%.1f", 100 * error) + " over the baseline" + checks;
}

}  // namespace

std::string savings_text(const Savings& savings) {
  if (savings.sites == 0 || !(savings.baseline_s > 0)) {
    return "no tuned plan of a loop or nest was compared with the baseline by itself (that takes a "
           "model, the guard, and as many executions as let a check take no more than its share)";
  }
  return saved_text(savings) + ", at " + formatted("%.0f", savings.sites) +
         (savings.sites == 1 ? " site" : " sites") + " of all ranks; " +
         formatted("%.0f", savings.demoted) + " demoted to the baseline";
}

std::string iterations_text(const Savings& savings) {
  if (savings.sites == 0 || !(savings.baseline_s > 0)) return {};
  return "iterations of the program: " + saved_text(savings) + "; " +
         formatted("%.0f", savings.demoted) + " of " + formatted("%.0f", savings.sites) +
         " (of all ranks) demoted to the baseline, with the sites in them";
}

GuardTime guard_time(const Savings& sites, const Savings& iterations) {
  return {.checks = sites.checks + iterations.checks,
          .excess_s = sites.excess_s + iterations.excess_s,
          .taken_s = std::max(sites.taken_s, iterations.taken_s)};
}

std::string guard_text(const GuardTime& time) {
  return "checks (" + formatted("%.0f", time.checks) + ") took " + seconds_text(time.excess_s) +
         " longer than what was in use, " + formatted("%.2f", 100 * time.share()) +
         " % of what is guarded";
}

bool contradict(const Savings& one, const Savings& other) {
  const auto gain_s = [](const Savings& of) { return of.baseline_s - of.actual_s; };
  return one.sites > 0 && other.sites > 0 && gain_s(one) * gain_s(other) < 0;
}

double Trace::Times::mean_predicted_s() const {
  return count > 0 ? predicted_s / static_cast<double>(count) : 0;
}

double Trace::Times::mean_s() const {
  return measured > 0 ? measured_s / static_cast<double>(measured) : 0;
}

void Trace::Times::add(double predicted, std::optional<double> seconds) {
  ++count;
  predicted_s += predicted;
  if (!seconds) return;
  ++measured;
  measured_s += *seconds;
}

void Trace::note(CallSite call, uint64_t shape, const Choice& choice, std::optional<double> seconds,
                 std::string_view what, const std::function<std::string()>& command) {
  if (!noting_) {
    latest_ = nullptr;
    return;
  }
  const std::string_view file = call.file == nullptr ? std::string_view() : call.file;
  Row& row = rows_[{file, call.line, shape}];
  latest_ = &row;
  const bool first = row.executions++ == 0;
  if (first) row.what = what;
  if (choice.reason == plan::Reason::guarded) {
    if (first) row.choice = choice;
    row.simple_text = choice.text;
    row.simple.add(choice.predicted_s, seconds);
    return;
  }
  if (first || row.choice != choice) row.command = command();
  const auto is_tied = [](const Choice& one) { return one.reason == plan::Reason::tied; };
  const bool ties = is_tied(row.choice) != is_tied(choice);
  if (!first && (row.choice.unplanned != choice.unplanned || ties)) {
    row.former += std::exchange(row.times, {}).count;
  }
  row.choice = choice;
  row.times.add(choice.predicted_s, seconds);
}

std::vector<const Trace::Rows::value_type*> Trace::longest_first() const {
  std::vector<const Rows::value_type*> order;
  for (const auto& entry : rows_) order.push_back(&entry);
  std::ranges::sort(
      order, [](const auto* a, const auto* b) { return a->second.took_s() > b->second.took_s(); });
  return order;
}

std::vector<model::FeedbackPlace> Trace::places(size_t most) const {
  std::vector<model::FeedbackPlace> places;
  for (const auto* entry : longest_first()) {
    if (places.size() == most) break;
    const Row& row = entry->second;
    places.push_back({.place = place_of(std::get<0>(entry->first), std::get<1>(entry->first)),
                      .what = row.what,
                      .choice = row.choice.text,
                      .ranks = 1,
                      .executions = row.executions,
                      .as_chosen = row.times.count,
                      .predicted_s = row.times.mean_predicted_s(),
                      .measured_s = row.times.mean_s(),
                      .simple = row.simple.count,
                      .simple_s = row.simple.mean_s(),
                      .demoted_ranks = row.is_demoted() ? 1U : 0U});
  }
  return places;
}

std::string Trace::text(const GuardTime& guard) const {
  const auto order = longest_first();
  std::string text = padded("place", 28) + padded("what", 26) + padded("times", 9) +
                     padded("chosen", 26) + padded("predicted", 11) + "measured\n";
  std::string missed;
  std::string obstacles;
  std::string commands;
  for (size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
    const auto& [key, row] = *order[i];
    const auto& [file, line, shape] = key;
    const std::string place = place_of(file, line);
    if (const std::string_view command = row.shown_command(); !command.empty()) {
      commands += "  " + place + " (" + row.what + ")\n    " + std::string(command) + "\n";
    }
    if (!row.choice.obstacle.empty()) {
      obstacles += "  " + place + " (" + row.what + "): " + row.choice.obstacle + "\n";
    }
    const bool demoted = row.is_demoted();
    const Times& times = demoted ? row.simple : row.times;
    const double predicted_s = times.mean_predicted_s();
    const double measured_s = times.mean_s();
    const std::string& chosen = demoted ? row.simple_text : row.choice.text;
    const std::string& detail = row.choice.detail;
    const std::string what = detail.empty() ? row.what : row.what + " " + detail;
    text += padded(place, 28) + padded(what, 26) + padded(std::to_string(row.executions), 9) +
            padded(chosen, 26) + padded(predicted_s > 0 ? seconds_text(predicted_s) : "-", 11) +
            (times.measured > 0 ? seconds_text(measured_s) : "-") + "\n";
    if (predicted_s > 0 && measured_s > 0) {
      const double ratio = measured_s / predicted_s;
      if (ratio > kMissed || ratio < 1 / kMissed) {
        missed += "  " + place + " (" + row.what + ") took " + formatted("%.2f", ratio) +
                  " times what was predicted\n";
      }
    }
  }
  if (order.size() > kMostRows) {
    text += "and " + std::to_string(order.size() - kMostRows) + " more\n";
  }
  if (guard.taken_s > 0) {
    text += padded("guard", 28) + padded("checks of decisions", 26) +
            padded(formatted("%.0f", guard.checks), 9) +
            padded(formatted("%.2f", 100 * guard.share()) + " % of what is guarded", 26) +
            padded("-", 11) + seconds_text(guard.excess_s) + " in all\n";
  }
  if (!missed.empty()) text += "predictions that missed:\n" + missed;
  if (!obstacles.empty()) text += "nests that go access by access:\n" + obstacles;
  if (!commands.empty()) text += "commands that say why:\n" + commands;
  return text;
}

}  // namespace stripline::decide
