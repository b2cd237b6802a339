// What the calls of both doors work on.
#pragma once

namespace stripline::server {

class Access;
class Coordinator;
class RunResults;
class Store;

/// It outlives the doors.
struct Core {
  Coordinator& coordinator;
  Store& store;
  Access& access;
  RunResults& results;
};

}  // namespace stripline::server
