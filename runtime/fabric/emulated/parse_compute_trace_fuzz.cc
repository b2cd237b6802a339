// Compute traces are files: whatever the bytes, parsing ends with a value or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/fabric/emulated/compute_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto trace = stripline::fabric::ComputeTrace::parse(bytes, "fuzz");
  if (!trace.ok()) return 0;
  // What is accepted has as many entries as it says.
  uint64_t entries = 0;
  while (trace->next()) ++entries;
  if (entries != trace->entries() || !trace->at_end()) std::abort();
  return 0;
}
