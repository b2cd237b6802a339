#include <cmath>
#include <iostream>

#include "base/exit_codes.h"
#include "base/json.h"
#include "optimizer/targets/registry.h"
#include "suites/targets/commands.h"
#include "suites/targets/search_options.h"
#include "suites/targets/session.h"

namespace stripline::suites::tune {
namespace {

// A line for each alternative of a cell; a run that it has no time of is null.
void print_cell(const SearchCell& cell) {
  for (const Runner& runner : cell.runners) {
    Json times = Json::array();
    for (const double time_s : runner.times_s) {
      times.push_back(std::isnan(time_s) ? Json() : Json(time_s));
    }
    const Json line = {{"collective", to_string(cell.cell.collective)},
                       {"ranks", cell.cell.ranks},
                       {"bytes", cell.cell.bytes},
                       {"candidate", runner.candidate.name},
                       {"times_s", std::move(times)},
                       {"failure", runner.failure}};
    std::cout << line.dump() << '\n';
  }
}

Result<int> sweep(const TuneOptions& options, size_t runs) {
  STRIPLINE_ASSIGN_OR_RETURN(SearchOptions search, search_options(options));
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Target* target, targets::find_target(options.target));
  STRIPLINE_RETURN_IF_ERROR(check_has_alternatives(*target));
  STRIPLINE_ASSIGN_OR_RETURN(const Session session, open_session(*target, options.accept_untried));
  Launcher launcher(*session.adapter, session.driver.string(), session.folder, search.path,
                    options.cancel_fd);
  launcher.set_stall_limit(options.stall_s);
  search.grid.one_node = session.adapter->is_one_node(search.path);
  STRIPLINE_ASSIGN_OR_RETURN(search.safety.unsettable, unsettable_variables(launcher));
  STRIPLINE_ASSIGN_OR_RETURN(const SearchTable table,
                             sweep_collectives(launcher, search, runs, print_progress));
  for (const SearchCell& cell : table.cells()) print_cell(cell);
  return kExitOk;
}

}  // namespace

int sweep_command(const TuneOptions& options, size_t runs) {
  return exit_code_of(sweep(options, runs));
}

}  // namespace stripline::suites::tune
