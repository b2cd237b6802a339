// What debug mode knows of the symmetric heap: who allocated and freed what, to judge accesses by.
// The heap is the same on every rank, so that a rank judges its accesses to others by its own log.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <stripline/call_site.h>

namespace stripline::rma {

class HeapLog {
 public:
  /// `gives_back` is the call that does, for messages.
  explicit HeapLog(const char* gives_back = "delete_symmetric_array") : gives_back_(gives_back) {}

  /// An array of `bytes`, as the program asked for, is now at `offset`.
  void allocated(uint64_t offset, uint64_t bytes, CallSite site);
  /// The array that begins at `offset` is given back. Returns its size; 0: none begins there.
  uint64_t freed(uint64_t offset, CallSite site);

  /// Nothing if an access to these bytes stays within one array; else what is wrong with it, to
  /// follow a description of the access: "lies in memory that was freed: ...".
  std::string complaint(uint64_t offset, uint64_t bytes) const;

  /// "N bytes at offset O that was allocated at PLACE", of the array that begins there.
  std::string description(uint64_t offset) const;

  /// True if something that begins at this offset or before it was ever allocated.
  bool knows(uint64_t offset) const {
    return last_from(live_, offset) != live_.end() || last_from(freed_, offset) != freed_.end();
  }

 private:
  struct Array {
    uint64_t bytes = 0;
    CallSite allocated;
    CallSite freed;
    uint64_t end(uint64_t offset) const { return offset + bytes; }
  };
  using Arrays = std::map<uint64_t, Array>;  // by offset; do not overlap

  static Arrays::const_iterator last_from(const Arrays& arrays, uint64_t offset);
  static std::string describe(const Arrays::value_type& array);

  const char* gives_back_;
  Arrays live_;
  Arrays freed_;  // where nothing has been allocated since
};

}  // namespace stripline::rma
