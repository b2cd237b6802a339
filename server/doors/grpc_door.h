// What the services of gRPC are made of.
#pragma once

#include "server/doors/core.h"

namespace stripline::server {

class CallLimits;
class ReadingPool;
class Refusals;

/// All of it outlives the services.
struct GrpcDoor {
  Core core;
  CallLimits& limits;
  ReadingPool& reading;
  Refusals& refusals;
};

}  // namespace stripline::server
