// By which path an atomic operation on another rank's variable is carried out: as programs ask for
// it, and as models say it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stripline::model {

enum class AtomicPath : uint8_t {
  provider,  ///< FI_ATOMIC, or what the emulated fabric has for it
  message,   ///< the CPU where Context::is_local(), else by active message the CPU of the owner
  /// message where segments of other ranks are mapped, or the provider lacks an operation on the
  /// type; else as the model says, or provider without one
  automatic,
};

/// Names as they stand in model files; they have no automatic.
inline constexpr std::array<std::string_view, 2> kAtomicNames = {"provider", "message"};

}  // namespace stripline::model
