// How programs that measure join their job.
#pragma once

#include <cstdio>
#include <memory>

#include <stripline/context.h>

#include "runtime/fabric/ofi/ofi_variables.h"

namespace stripline::suites {

/// Context::init(threads), with all pages of the segment made at once (Options::populate): their
/// first touch is not part of what is measured. Rank 0 warns of variables of libfabric that change
/// what is.
inline Result<std::unique_ptr<Context>> join_to_measure(thread_mode threads = thread_mode::single) {
  auto options = Options::from_environment();
  if (!options.ok()) return Context::init();  // which tells the launcher why
  options->populate = true;
  options->threads = threads;
  auto context = Context::init(*options);
  const auto changing = fabric::that_change_speed(fabric::libfabric_variables());
  if (context.ok() && (*context)->rank_me() == 0 && !changing.empty() &&
      !options->fabric.starts_with("emulated:")) {
    std::fprintf(stderr, "warning: measured with %s: other runs may be faster or slower\n",
                 fabric::to_text(changing).c_str());
  }
  return context;
}

}  // namespace stripline::suites
