#include "cli/replay_commands.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/table.h"
#include "cli/console.h"
#include "cli/format.h"
#include "cli/recording_file.h"
#include "optimizer/campaign/replay.h"

namespace stripline::cli {
namespace {

using campaign::ReplayResult;
using campaign::Strategy;

std::vector<Strategy> strategies_of(const CampaignReplay& command) {
  if (const auto one = campaign::strategy_from_string(command.strategy)) return {*one};
  return {Strategy::race, Strategy::straddle, Strategy::halving, Strategy::random, Strategy::grid};
}

std::string line_of(Strategy strategy, const ReplayResult& result) {
  return Json{{"strategy", to_string(strategy)},   {"runs", result.runs},
              {"seconds", result.seconds},         {"share", result.share},
              {"choices", result.choices},         {"near", result.near},
              {"mean_regret", result.mean_regret}, {"worst_regret", result.worst_regret}}
             .dump() +
         "\n";
}

Result<campaign::Recording> recording_of(const std::string& file) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_recording_file(file));
  auto recording = campaign::read_recording(text);
  if (recording.ok()) return recording;
  return Error(recording.error().code(), "'" + file + "': " + recording.error().message());
}

}  // namespace

Result<int> run(const Global& global, const CampaignReplay& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto recording, recording_of(command.file));
  std::optional<campaign::Recording> prior;
  if (!command.prior.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(auto other, recording_of(command.prior));
    prior = std::move(other);
  }
  Table table({{"STRATEGY"},
               {"RUNS", Table::Align::right},
               {"MEASURING", Table::Align::right},
               {"OF ALL", Table::Align::right},
               {"WITHIN 3 %", Table::Align::right},
               {"SLOWER BY", Table::Align::right},
               {"WORST", Table::Align::right}});
  for (const Strategy strategy : strategies_of(command)) {
    campaign::ReplayTerms terms;
    terms.strategy = strategy;
    terms.share = command.share;
    terms.seed = command.seed;
    terms.prior = prior ? &*prior : nullptr;
    STRIPLINE_ASSIGN_OR_RETURN(const auto result, campaign::replay(recording, terms));
    if (global.json) {
      print(line_of(strategy, result));
      continue;
    }
    table.add({std::string(to_string(strategy)), std::to_string(result.runs),
               seconds_text(result.seconds), percent_text(result.share),
               std::to_string(result.near) + " of " + std::to_string(result.choices),
               percent_text(result.mean_regret), percent_text(result.worst_regret)});
  }
  if (!global.json) print(table.text());
  return kExitOk;
}

}  // namespace stripline::cli
