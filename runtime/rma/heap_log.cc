#include "runtime/rma/heap_log.h"

#include <algorithm>
#include <iterator>

#include "runtime/rma/call.h"

namespace stripline::rma {

// The last array that begins at `offset` or before it; end() if none does.
HeapLog::Arrays::const_iterator HeapLog::last_from(const Arrays& arrays, uint64_t offset) {
  const auto after = arrays.upper_bound(offset);
  return after == arrays.begin() ? arrays.end() : std::prev(after);
}

std::string HeapLog::describe(const Arrays::value_type& array) {
  return std::to_string(array.second.bytes) + " bytes at offset " + std::to_string(array.first) +
         " that was allocated at " + text(array.second.allocated);
}

std::string HeapLog::description(uint64_t offset) const {
  const auto found = live_.find(offset);
  return found != live_.end() ? describe(*found)
                              : "an unknown size at offset " + std::to_string(offset);
}

void HeapLog::allocated(uint64_t offset, uint64_t bytes, CallSite site) {
  // What was freed here is no longer what an access would meet.
  const uint64_t end = offset + std::max<uint64_t>(bytes, 1);
  const auto last = last_from(freed_, offset);
  auto old = last != freed_.end() && last->second.end(last->first) > offset
                 ? freed_.find(last->first)
                 : freed_.lower_bound(offset);
  while (old != freed_.end() && old->first < end) old = freed_.erase(old);
  live_[offset] = Array{.bytes = bytes, .allocated = site, .freed = {}};
}

uint64_t HeapLog::freed(uint64_t offset, CallSite site) {
  const auto found = live_.find(offset);
  if (found == live_.end()) return 0;
  Array array = found->second;
  array.freed = site;
  live_.erase(found);
  if (array.bytes > 0) freed_[offset] = array;
  return array.bytes;
}

std::string HeapLog::complaint(uint64_t offset, uint64_t bytes) const {
  const auto before = last_from(live_, offset);
  if (before != live_.end() && offset < before->second.end(before->first)) {
    const uint64_t end = before->second.end(before->first);
    if (bytes <= end - offset) return {};
    std::string what = "begins in the array of " + describe(*before) + ", and runs " +
                       std::to_string(bytes - (end - offset)) + " bytes beyond its end";
    const auto next = std::next(before);
    if (next != live_.end() && next->first < offset + bytes) {
      what += ", into the array of " + describe(*next);
    }
    return what + "; the count or the pointer is wrong";
  }
  const auto gone = last_from(freed_, offset);
  if (gone != freed_.end() && offset < gone->second.end(gone->first)) {
    return "lies in memory that was freed: in an array of " + describe(*gone) +
           ", and given back at " + text(gone->second.freed) + "; nothing may use it after " +
           gives_back_;
  }
  std::string what = "lies in no symmetric array: ";
  if (before != live_.end()) {
    what += "it begins " + std::to_string(offset - before->second.end(before->first)) +
            " bytes behind the array of " + describe(*before);
  } else if (!live_.empty()) {
    what += "the first one begins at offset " + std::to_string(live_.begin()->first);
  } else {
    what += "there is none now";
  }
  return what + "; pointers into segments come from new_symmetric_array";
}

}  // namespace stripline::rma
