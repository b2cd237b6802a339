// The targets that are installed on this host, and the program that measures one.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "optimizer/targets/target.h"
#include "optimizer/targets/version.h"
#include "suites/targets/adapters/adapter.h"
#include "suites/targets/work_folder.h"

namespace stripline::suites::tune {

struct Installation {
  const targets::Target* target = nullptr;
  targets::Version version;
};

/// Asks the target's command for its version. Errors: not_found where there is none, unimplemented
/// for a target that cannot be detected, data_loss where it prints no version.
Result<Installation> detect(const targets::Target& target);

/// The folder of the driver's sources: beside the programs of a build or an installation. Errors:
/// not_found.
Result<std::filesystem::path> driver_sources();

/// Compiles the driver into a folder by the target's own compiler wrapper. Returns the program.
/// Errors: not_found without a wrapper, failed_precondition with what the compiler said.
Result<std::filesystem::path> compile_driver(const Adapter& adapter, const WorkFolder& folder);

}  // namespace stripline::suites::tune
