// Where the program calls, for debug mode and traces: the name of the call and its line in the
// source, "shmem_put at prog.c:17". The line is found by the address that a call returns to, in
// what a compiler leaves with -g, by libdw of elfutils, if that is installed; else the name stands
// alone. In a program that no one observes, that costs a load and a branch for each call.
#pragma once

#include <string>

#include <stripline/call_site.h>

namespace stripline::shmem {

extern bool calls_are_watched;
extern bool callers_are_noted;
/// From now on. Before the program has threads.
void watch_calls();
/// The same for phase_site() only.
void note_callers();

void note_caller(const void* return_address);
/// First in each function of the interface, with the address that it returns to.
inline void called_from(const void* return_address) {
  if (callers_are_noted) [[unlikely]]
    note_caller(return_address);
}

CallSite watched_site(const char* call);
/// What messages and --trace name as the place of a call. `call` is a string literal.
inline CallSite site_of(const char* call) {
  return calls_are_watched ? watched_site(call) : CallSite{call, 0};
}

/// By what a barrier that begins a phase is recognised (docs/bulk.md): its place, or, where lines
/// are not looked for, its number among the places that call so.
CallSite phase_site(const char* call);

/// "prog.c:17: " for this thread's call, to begin a message with; empty if it is not known.
std::string caller_text();

}  // namespace stripline::shmem
