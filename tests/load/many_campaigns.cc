// The database of a server that has measured for long: thousands of campaigns, the last two of as
// many points as a campaign may have, each measured in two runs. For scripts/check.sh pages, which
// looks at them in a browser.
#include <cstdint>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "base/command_line.h"
#include "base/exit_codes.h"
#include "tests/load/measured_history.h"

int main(int argc, char** argv) {
  using namespace stripline;
  std::string database;
  uint32_t campaigns = 5000;
  uint32_t points = 250'000;
  CLI::App app("Makes the database of a server that has measured for long.", "stripline-fill");
  app.add_option("database", database, "File that is made")->required();
  app.add_option("--campaigns", campaigns, "Number of them")
      ->transform(whole_number(2, 100'000))
      ->capture_default_str();
  app.add_option("--points", points, "Of each of the last two")
      ->transform(whole_number(1, 250'000))
      ->capture_default_str();
  if (const auto end = read_command_line(app, argc, argv)) return *end;
  if (const Status filled = load::fill_with_history(database, campaigns, points); !filled.ok()) {
    std::cerr << "stripline-fill: error: " << filled.error().message() << "\n";
    return kExitFailure;
  }
  return kExitOk;
}
