// The client library of PMIx, loaded when a rank finds itself in a job of mpirun or srun. Programs
// that are started otherwise never load it, and the runtime does not link it.
//
// Includes the headers of PMIx: for the .cc files of the PMIx bootstrap only.
#pragma once

#include <pmix.h>
#include <string_view>

#include "base/result.h"

namespace stripline::bootstrap::pmix {

/// PMIx's functions, under their names of the standard. Loaded once, never unloaded: Open MPI uses
/// the same library in the same process.
struct Library {
  decltype(&::PMIx_Init) init = nullptr;
  decltype(&::PMIx_Finalize) finalize = nullptr;
  decltype(&::PMIx_Abort) abort = nullptr;
  decltype(&::PMIx_Put) put = nullptr;
  decltype(&::PMIx_Commit) commit = nullptr;
  decltype(&::PMIx_Fence) fence = nullptr;
  decltype(&::PMIx_Get) get = nullptr;
  decltype(&::PMIx_Register_event_handler) register_event_handler = nullptr;
  decltype(&::PMIx_Deregister_event_handler) deregister_event_handler = nullptr;
  decltype(&::PMIx_Error_string) error_string = nullptr;

  /// Debian's and PMIx's own name for versions 2 to 5.
  static constexpr const char* kName = "libpmix.so.2";

  /// Loads the library. Thread-safe. Errors: unavailable, with what to install, if it is not there,
  /// lacks a function, or is too old.
  static Result<Library> load(const char* name = kName);
};

/// Checks whether this code can use a library that calls itself `version`, e.g. "OpenPMIx 4.2.2rc2,
/// ..." or "PMIx 3.2.3". Errors: unavailable for versions before 4, which register event handlers
/// differently, and for texts without a version.
Status check_version(std::string_view version);

}  // namespace stripline::bootstrap::pmix
