// Keeps a server measuring: campaigns of one run each, as many at a time as are asked for, and
// another one for each that has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace stripline::load {

class CampaignSource {
 public:
  struct Options {
    std::string server;
    std::string authority_pem;
    std::string secret;      ///< of a user who may create campaigns
    std::string experiment;  ///< that they measure over tcp
    uint32_t at_a_time = 1;
  };

  explicit CampaignSource(Options options);
  ~CampaignSource() = default;
  CampaignSource(const CampaignSource&) = delete;
  CampaignSource& operator=(const CampaignSource&) = delete;

  /// No campaign follows any more.
  void end() { ending_ = true; }
  /// After end(): all have ended.
  bool ended() const { return ended_; }

  uint64_t created() const { return created_; }
  /// Samples that the server has, of campaigns that have ended.
  uint64_t samples() const { return samples_; }
  /// Campaigns that did not succeed, and calls that failed.
  std::vector<std::string> failures() const;

 private:
  void run(const std::stop_token& stop);
  void fail(const std::string& why);

  const Options options_;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> ended_ = false;
  std::atomic<uint64_t> created_ = 0;
  std::atomic<uint64_t> samples_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> failures_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace stripline::load
