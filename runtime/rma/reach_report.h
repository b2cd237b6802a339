// What ranks find out by connecting, for people to read.
#pragma once

namespace stripline {
class Context;
namespace rma {

/// Writes to standard error how ranks reach each other, and the memory that takes
/// (runtime/machine/reach_table.h). With `together`, which is the same on all ranks, rank 0 writes
/// for all, and the call is collective; else each rank writes for itself.
void report_reach(Context& context, bool together);

}  // namespace rma
}  // namespace stripline
