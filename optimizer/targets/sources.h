// Where settings of a process come from, and which of several wins. Pure.
#pragma once

#include <string>
#include <vector>

#include "optimizer/targets/target.h"

namespace stripline::targets {

struct Source {
  std::string name;  ///< "openmpi-mca-params-override.conf", "the environment"
  std::vector<Setting> settings;
};

/// For each setting that a stronger source gives another value: a sentence that names both.
/// `stronger` are all sources that beat the one where `exported` will be, the strongest first.
/// Words for yes and no are the same as 1 and 0.
std::vector<std::string> overridden(const std::vector<Setting>& exported,
                                    const std::vector<Source>& stronger);

}  // namespace stripline::targets
