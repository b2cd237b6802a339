#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "base/json.h"
#include "optimizer/targets/environment_file.h"
#include "optimizer/targets/registry.h"
#include "suites/targets/commands.h"
#include "suites/targets/knob_search.h"
#include "suites/targets/search_options.h"
#include "suites/targets/session.h"

namespace stripline::suites::tune {
namespace {

// A run that there is no time of is null.
Json times_json(const std::vector<double>& times_s) {
  Json times = Json::array();
  for (const double time_s : times_s) times.push_back(std::isnan(time_s) ? Json() : Json(time_s));
  return times;
}

// A line for each alternative of a cell.
void print_cell(const SearchCell& cell) {
  for (const Runner& runner : cell.runners) {
    const Json line = {{"collective", to_string(cell.cell.collective)},
                       {"ranks", cell.cell.ranks},
                       {"bytes", cell.cell.bytes},
                       {"candidate", runner.candidate.name},
                       {"times_s", times_json(runner.times_s)},
                       {"failure", runner.failure}};
    std::cout << line.dump() << '\n';
  }
}

// A line for each cell of settings.
void print_settings(const SweptSettings& one, const std::vector<DriverCell>& cells) {
  Json settings = Json::object();
  for (const targets::Setting& setting : one.settings) settings[setting.name] = setting.value;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Json line = {{"settings", settings},
                       {"operation", cells[i].operation},
                       {"ranks", cells[i].ranks},
                       {"bytes", cells[i].bytes},
                       {"times_s", times_json(one.times_s[i])},
                       {"failure", one.failure}};
    std::cout << line.dump() << '\n';
  }
}

// The settings of a record; none without a file.
Result<std::vector<targets::Setting>> settings_in(const std::string& file,
                                                  const targets::Target& target) {
  std::vector<targets::Setting> settings;
  if (file.empty()) return settings;
  STRIPLINE_ASSIGN_OR_RETURN(const Json record, read_json_file(file));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* object, get_object(record, "settings", "export record"));
  for (const auto& [name, value] : object->items()) {
    if (!value.is_string()) {
      return Error(ErrorCode::data_loss, "'" + file + "': the value of " + name + " is not text");
    }
    settings.push_back({name, value.get<std::string>()});
  }
  STRIPLINE_RETURN_IF_ERROR(targets::check_settings(target, settings));
  return settings;
}

Result<int> sweep(const SweepOptions& options) {
  const TuneOptions& tune = options.tune;
  STRIPLINE_ASSIGN_OR_RETURN(SearchOptions search, search_options(tune));
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Target* target, targets::find_target(tune.target));
  const bool knobs = options.knobs || target->candidates == nullptr;
  if (!knobs && !options.record.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "--record is of a sweep of knobs: ask for that by --knobs");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto together, settings_in(options.record, *target));
  STRIPLINE_ASSIGN_OR_RETURN(const Session session, open_session(*target, tune.accept_untried));
  Launcher launcher(*session.adapter, session.driver.string(), session.folder, search.path,
                    tune.cancel_fd);
  launcher.set_stall_limit(tune.stall_s);
  search.grid.one_node = session.adapter->is_one_node(search.path);
  if (knobs) {
    STRIPLINE_ASSIGN_OR_RETURN(const KnobSweep swept, sweep_knobs(launcher, search, options.runs,
                                                                  together, print_progress));
    for (const SweptSettings& one : swept.swept) print_settings(one, swept.cells);
    return kExitOk;
  }
  STRIPLINE_ASSIGN_OR_RETURN(search.safety.unsettable, unsettable_variables(launcher));
  STRIPLINE_ASSIGN_OR_RETURN(const SearchTable table,
                             sweep_collectives(launcher, search, options.runs, print_progress));
  for (const SearchCell& cell : table.cells()) print_cell(cell);
  return kExitOk;
}

}  // namespace

int sweep_command(const SweepOptions& options) { return exit_code_of(sweep(options)); }

}  // namespace stripline::suites::tune
