// File descriptors of this process: that the standard ones exist, and how many there may be.
#pragma once

#include <cstdint>

namespace stripline {

/// First thing in every program, and before a rank joins its job; again does no harm. No other
/// thread may open or close descriptors meanwhile.
///
/// Opens those of descriptors 0 to 2 that are closed on /dev/null: the next socket or file
/// would get the number otherwise, and what is printed would go into it.
///
/// The soft limit of open descriptors (`ulimit -n`) is raised to the hard one, at most to 2^20:
/// connections need one each, and the usual soft limit of 1024 protects programs that call
/// select(), which none of ours does. Children get the former limit back
/// (restore_descriptor_limit), as they may be such programs, or close every number below it.
void prepare_descriptors();

/// Sets the soft limit to what it was before prepare_descriptors(), for a program that this process
/// is about to become. Async-signal-safe.
void restore_descriptor_limit();

/// Descriptors that this process may have open at once.
uint64_t descriptor_limit();

}  // namespace stripline
