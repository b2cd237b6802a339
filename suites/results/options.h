// What all commands of stripline-results have in common.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace stripline::suites::results {

struct Options {
  std::filesystem::path folder;  ///< where measurements are kept, so that a command can continue
  std::string worker;            ///< path of stripline-worker
  bool quick = false;            ///< thinned grids, few seeds and cells: to see that all works
  int cancel_fd = -1;            ///< readable when the user wants to stop
  /// Only fabrics whose name contains this; empty: all.
  std::string only;
  std::string cells;  ///< only cells whose name contains this (update-choices, gather-choices,
                      ///< bulk, ablation); empty: all
  /// Model files by fabric, to be used instead of measuring (quality, update-choices,
  /// gather-choices), or judged (budgeted, which takes several of one fabric, and networks).
  std::multimap<std::string, std::string> models;
  uint64_t seed = 1;            ///< of what is drawn (networks)
  double search_budget_s = 15;  ///< for the exhaustive search of one cell

  /// A file or folder of these measurements. Quick ones are kept apart.
  std::filesystem::path path(const std::string& name) const {
    return folder / (quick ? "quick" : "full") / name;
  }
};

}  // namespace stripline::suites::results
