// Mechanisms whose messages may arrive at a rank that has not used them yet. What they go by is
// named when the rank begins, in this order on every rank, and served from when the mechanism is
// made (rma::Operations::user()). One more is an enumerator and a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stripline {

// Not of the namespace of updates: `update` is a function of nests, too.
namespace message_names {
/// Replies to fetching updates.
inline constexpr const char* kFetchedUpdates = "fetched updates";
/// Updates that travel by themselves, and what ranks ask each other about updates.
inline constexpr const char* kSingleUpdates = "single updates";
inline constexpr const char* kAskUpdates = "ask about updates";
inline constexpr const char* kAnswerUpdates = "answer about updates";
}  // namespace message_names

enum class MessageUser : uint8_t { updates };

struct NamesOfUser {
  const char* parcels;
  std::array<const char*, 4> handlers;
};
inline constexpr std::array<NamesOfUser, 1> kMessageUsers = {
    {{"updates",
      {message_names::kFetchedUpdates, message_names::kSingleUpdates, message_names::kAskUpdates,
       message_names::kAnswerUpdates}}}};

}  // namespace stripline
