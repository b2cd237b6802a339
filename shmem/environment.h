// What the environment says: the variables of the standard, and their old names, which begin with
// SMA_ and count where the new ones are not set.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace stripline::shmem {

struct Environment {
  /// SHMEM_SYMMETRIC_SIZE: bytes of the symmetric heap of each PE. Empty: it is not set.
  std::optional<uint64_t> heap_bytes;
  bool version = false;  ///< SHMEM_VERSION: PE 0 prints the version when the program starts
  bool info = false;     ///< SHMEM_INFO: it prints what these variables do
  bool debug = false;    ///< SHMEM_DEBUG: what the program does is checked (docs/debugging.md)
};

/// Reads it, at start-up. Errors: invalid_argument for a size that is not one.
Result<Environment> read_environment();

/// What SHMEM_INFO prints.
std::string_view environment_help();

}  // namespace stripline::shmem
