// What a program must mind whose peers are served by a thread of the runtime while it computes
// (Options::progress "thread", STRIPLINE_PROGRESS=thread).
//
// Handlers of active messages then run on the program's thread or on the runtime's, one at a time,
// and never during a call of the Context but by it. They may run beside the program's own code
// between two calls. What handlers and that code both touch is therefore atomic, or touched by the
// program only
//   - in the condition of wait_until(), which is part of the call, or
//   - while a handlers_paused lives:
//
//       size_t waiting;
//       {
//         const stripline::handlers_paused paused(ctx);
//         waiting = queue.size();                          // handlers push
//       }
//
// What a call returned after has happened before what follows it: a program that waits for its
// messages and then reads what handlers wrote needs nothing more, unless further messages may come.
#pragma once

#include <stripline/context.h>

namespace stripline {

/// No handler runs beside the program while it lives. Calls of the Context within serve peers as
/// ever. Costs a branch where there is no progress thread. Not for long: peers wait. Used by the
/// thread that calls the Context, and gone before the Context is.
class [[nodiscard]] handlers_paused {
 public:
  explicit handlers_paused(Context& context);  ///< waits for a handler that runs
  ~handlers_paused();
  handlers_paused(const handlers_paused&) = delete;
  handlers_paused& operator=(const handlers_paused&) = delete;

 private:
  Context& context_;
};

}  // namespace stripline
