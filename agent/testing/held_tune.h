// A program in place of stripline-tune that installs nothing, and ends once it is released.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "agent/targets.h"
#include "base/sha256.h"
#include "base/testing/processes.h"
#include "optimizer/experiment/tuning.h"
#include "proto/agent_protocol/messages.h"

namespace stripline::agent {

class HeldTune {
 public:
  HeldTune() {
    std::ofstream(program_) << "#!/bin/sh\nuntil [ -e '" << released_.string()
                            << "' ]; do sleep 0.01; done\n";
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
  }

  void release() const { std::ofstream(released_) << "released"; }

  /// The options of an agent that installs settings by this program.
  TargetOptions options() const {
    TargetOptions options;
    options.program = program_.string();
    options.folders["openmpi"] = (folder_ / "installed").string();
    return options;
  }

  static std::string fabric() { return experiment::settings_fabric("openmpi"); }

  /// Settings that such an agent accepts.
  static ModelOffer offer() {
    const std::string packed = R"({"record":{"target":"openmpi"}})";
    return {"models/openmpi-shm/versions/1", sha256_hex(packed), "stable", fabric(),
            std::make_shared<const std::string>(packed)};
  }

 private:
  const TempFolder folder_;
  const std::filesystem::path program_ = folder_ / "tune";
  const std::filesystem::path released_ = folder_ / "released";
};

}  // namespace stripline::agent
