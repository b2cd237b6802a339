// Commands against a server that speaks real gRPC and answers from a script.
#pragma once

#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <unistd.h>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/console.h"
#include "stripline/v1/common.pb.h"

namespace stripline::cli {

/// A call's refusal as the server words it.
inline grpc::Status problem(grpc::StatusCode code, const std::string& reason,
                            const std::string& message) {
  v1::ErrorInfo info;
  info.set_reason(reason);
  v1::Status details;
  details.set_code(code);
  details.set_message(message);
  details.add_details()->PackFrom(info);
  return {code, message, details.SerializeAsString()};
}

class CommandsFixture : public ::testing::Test {
 protected:
  CommandsFixture() { std::filesystem::create_directories(folder_); }
  ~CommandsFixture() override { std::filesystem::remove_all(folder_); }

  /// Until stop_serving(), which must come before these end.
  void serve(std::initializer_list<grpc::Service*> services) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    for (grpc::Service* service : services) builder.RegisterService(service);
    server_ = builder.BuildAndStart();
    global_.server = "127.0.0.1:" + std::to_string(port);
    global_.timeout_s = 10;
  }
  void stop_serving() { server_->Shutdown(std::chrono::system_clock::now()); }

  /// The exit code of `command`; what it prints is kept.
  template <typename Command>
  int outcome_of(const Command& command) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = exit_code_from(command());
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  bool printed(const std::string& text) const { return out_.find(text) != std::string::npos; }
  bool complained(const std::string& text) const { return err_.find(text) != std::string::npos; }

  std::unique_ptr<grpc::Server> server_;
  Global global_;
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("stripline_cli_" + std::to_string(::getpid()));
  std::string out_;
  std::string err_;
};

}  // namespace stripline::cli
