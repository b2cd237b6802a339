// Calls of the administrator of the server under load, one after the other. Each ends the program
// if it fails.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "stripline/v1/access.pb.h"
#include "tests/load/give_up.h"

namespace stripline::load {

class Administrator {
 public:
  /// `secret`: of a token of that role.
  Administrator(std::string server, std::string authority_pem, std::string secret)
      : server_(std::move(server)),
        authority_pem_(std::move(authority_pem)),
        secret_(std::move(secret)) {}

  const std::string& authority_pem() const { return authority_pem_; }
  const std::string& secret() const { return secret_; }

  /// The stub of a service, such as v1::Campaigns.
  template <typename Service>
  std::unique_ptr<typename Service::Stub> stub() const {
    return Service::NewStub(channel());
  }

  /// The answer to a call. A server that is not there yet is waited for.
  template <typename Stub, typename Request, typename Answer>
  Answer ask(Stub& stub, grpc::Status (Stub::*call)(grpc::ClientContext*, const Request&, Answer*),
             const Request& request) const {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + secret_);
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    Answer answer;
    if (const auto status = (stub.*call)(&context, request, &answer); !status.ok()) {
      give_up(status.error_message());
    }
    return answer;
  }

  /// What a new user of this role shows.
  std::string new_secret(v1::Role role, const std::string& user) const;

 private:
  std::shared_ptr<grpc::Channel> channel() const;

  const std::string server_;
  const std::string authority_pem_;
  const std::string secret_;
};

}  // namespace stripline::load
