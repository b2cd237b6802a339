// How programs that measure join their job.
#pragma once

#include <memory>

#include <stripline/context.h>

namespace stripline::suites {

/// Context::init(), with all pages of the segment made at once (Options::populate): their first
/// touch is not part of what is measured.
inline Result<std::unique_ptr<Context>> join_to_measure() {
  auto options = Options::from_environment();
  if (!options.ok()) return Context::init();  // which tells the launcher why
  options->populate = true;
  return Context::init(*options);
}

}  // namespace stripline::suites
