// What visitors of a server (visitors.h) have in common: their threads and their connections.
#pragma once

#include <httplib.h>
#include <memory>
#include <stop_token>
#include <string>

#include <grpcpp/grpcpp.h>

#include "tests/load/visitors.h"

namespace stripline::load {

/// Between two calls of an attacker: more calls would measure this host's processors.
inline constexpr double kBetweenCalls_s = 0.02;

/// This thread's: agents come first.
void lower_priority();
/// False when it is time to stop.
bool pause(const std::stop_token& stop, double seconds);

/// The URL of the server's pages.
std::string pages_of(const Visited& visited);
/// A connection to it from this address of this host, which shows the secret if there is one.
httplib::Client client_of(const std::string& url, const std::string& from,
                          const std::string& secret);
/// A connection of its own, which takes answers of any size.
std::shared_ptr<grpc::Channel> channel_to(const Visited& visited);
/// Shows the secret, if there is one, and limits how long the call lasts.
void show(grpc::ClientContext& context, const std::string& secret);

}  // namespace stripline::load
