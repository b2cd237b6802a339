#include <algorithm>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "base/host_name.h"
#include "base/json_channel.h"
#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/testing/scoped_environment.h"

namespace stripline::bootstrap {
namespace {

/// A rank of two, and its launcher's end of the channel.
class LaunchedRank : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(auto sockets, socket_pair());
    launcher_.emplace(std::move(sockets.first));
    const ScopedEnvironment environment(
        {{"STRIPLINE_RANK", "1"},
         {"STRIPLINE_RANKS", "2"},
         {"STRIPLINE_JOB_ID", "job-7"},
         {"STRIPLINE_CONTROL_FD", std::to_string(sockets.second.get())}});
    ASSERT_OK_AND_ASSIGN(auto made, from_environment());
    sockets.second.release();  // the bootstrap's now
    rank_ = std::move(made);
  }

  Json receive() {
    const auto message = launcher_->read(10);
    EXPECT_TRUE(message.ok() && message->has_value());
    return message.ok() && message->has_value() ? **message : Json();
  }

  std::optional<JsonChannel> launcher_;
  std::unique_ptr<Bootstrap> rank_;
};

TEST(Launched, JoinsItsJobOnce) {
  ASSERT_OK_AND_ASSIGN(auto sockets, socket_pair());
  const ScopedEnvironment environment(
      {{"STRIPLINE_RANK", "0"},
       {"STRIPLINE_RANKS", "1"},
       {"STRIPLINE_JOB_ID", "job-8"},
       {"STRIPLINE_CONTROL_FD", std::to_string(sockets.second.get())}});
  ASSERT_OK_AND_ASSIGN(const auto first, from_environment());
  sockets.second.release();
  const auto second = from_environment();
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message().find("already initialised"), std::string::npos)
      << second.error().message();
  // The launcher has heard of nothing.
  const auto heard = JsonChannel(std::move(sockets.first)).read(0.01);
  EXPECT_FALSE(heard.ok() && heard->has_value());
}

TEST_F(LaunchedRank, KnowsItsPlace) {
  EXPECT_EQ(rank_->rank(), 1U);
  EXPECT_EQ(rank_->ranks(), 2U);
  EXPECT_EQ(rank_->job_id(), "job-7");
  ASSERT_NE(rank_->control(), nullptr);
  EXPECT_NE(::fcntl(rank_->control()->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(LaunchedRank, ExchangesAddressesAndLeaves) {
  ASSERT_TRUE(launcher_->write({{"type", "ready"}, {"addresses", {"00ff", "6162"}}}).ok());
  ASSERT_OK_AND_ASSIGN(const auto addresses, rank_->exchange("ab"));
  EXPECT_EQ(addresses.at(0), std::string("\0\xff", 2));
  EXPECT_EQ(addresses.at(1), "ab");
  const Json join = receive();
  EXPECT_EQ(join["type"], "join");
  EXPECT_EQ(join["rank"], 1);
  EXPECT_EQ(join["address"], "6162");
  EXPECT_EQ(join["host"], host_name());
  rank_->left();
  EXPECT_EQ(receive()["type"], "left");
}

TEST_F(LaunchedRank, AbortKeepsItsCodeAndMessage) {
  ASSERT_TRUE(
      launcher_
          ->write(
              {{"type", "abort"}, {"code", "deadline_exceeded"}, {"message", "rank 0 is missing"}})
          .ok());
  const auto addresses = rank_->exchange("ab");
  ASSERT_FALSE(addresses.ok());
  EXPECT_EQ(addresses.error().code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(addresses.error().message(), "rank 0 is missing");
}

TEST_F(LaunchedRank, RefusesAnswersThatDoNotFit) {
  ASSERT_TRUE(launcher_->write({{"type", "ready"}, {"addresses", {"00"}}}).ok());
  EXPECT_EQ(rank_->exchange("ab").error().code(), ErrorCode::data_loss);
  ASSERT_TRUE(launcher_->write({{"type", "ready"}, {"addresses", {"00", 7}}}).ok());
  EXPECT_EQ(rank_->exchange("ab").error().code(), ErrorCode::data_loss);
  ASSERT_TRUE(launcher_->write({{"type", "work"}}).ok());
  EXPECT_EQ(rank_->exchange("ab").error().code(), ErrorCode::data_loss);
}

TEST_F(LaunchedRank, LostLauncherIsNoticed) {
  EXPECT_TRUE(rank_->report_failure(Error(ErrorCode::unavailable, "no network")));
  const Json failed = receive();
  EXPECT_EQ(failed["type"], "failed");
  EXPECT_EQ(failed["code"], "unavailable");
  EXPECT_EQ(failed["message"], "no network");
  launcher_.reset();
  EXPECT_EQ(rank_->exchange("ab").error().code(), ErrorCode::unavailable);
  EXPECT_FALSE(rank_->report_failure(Error(ErrorCode::unavailable, "no network")));
}

TEST(FromEnvironment, WithoutLauncherItIsAJobOfOne) {
  ASSERT_OK_AND_ASSIGN(const auto job, from_environment());
  EXPECT_EQ(job->rank(), 0U);
  EXPECT_EQ(job->ranks(), 1U);
  EXPECT_EQ(job->control(), nullptr);
  EXPECT_EQ(*job->exchange("x"), std::vector<std::string>{"x"});
  EXPECT_NE((*from_environment())->job_id(), job->job_id());
}

/// What this process says when it makes a job of its own in such an environment.
std::string said_alone(const std::map<std::string, std::string>& variables) {
  const ScopedEnvironment environment(variables);
  ::testing::internal::CaptureStderr();
  const auto job = from_environment();
  EXPECT_TRUE(job.ok() && (*job)->ranks() == 1);
  return ::testing::internal::GetCapturedStderr();
}

TEST(FromEnvironment, TheFirstTaskOfALauncherWithoutPmixNamesIt) {
  struct Case {
    const char* launcher;
    const char* rank;
    const char* size;
    const char* remedy;
  };
  for (const Case& one :
       {Case{"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "flux run -o pmi=pmix"},
        Case{"PALS", "PALS_RANKID", "PMI_SIZE", "mpiexec --pmi=pmix"},
        Case{"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "stripline run"},
        Case{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI 4"},
        Case{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun --mpi=pmix"},
        Case{"MPICH", "PMI_RANK", "PMI_SIZE", "stripline run"}}) {
    const std::string said = said_alone({{one.rank, "0"}, {one.size, "12"}});
    EXPECT_NE(said.find(one.launcher), std::string::npos) << said;
    EXPECT_NE(said.find("has started 12 tasks without PMIx"), std::string::npos) << said;
    EXPECT_NE(said.find(one.remedy), std::string::npos) << said;
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    EXPECT_EQ(said_alone({{one.rank, "3"}, {one.size, "12"}}), "") << "one task says it";
    EXPECT_EQ(said_alone({{one.rank, "0"}, {one.size, "1"}}), "") << "a job of one is right";
  }
  // Both speak PMI-1 as well.
  const std::string flux = said_alone(
      {{"FLUX_TASK_RANK", "0"}, {"FLUX_JOB_SIZE", "2"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  EXPECT_NE(flux.find("Flux"), std::string::npos) << flux;
}

TEST(FromEnvironment, LauncherOfRanksComesBeforePmix) {
  const ScopedEnvironment environment(
      {{"STRIPLINE_RANK", "0"}, {"PMIX_NAMESPACE", "none"}, {"PMIX_RANK", "0"}});
  const auto job = from_environment();
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.error().message().find("STRIPLINE_RANKS"), std::string::npos);
}

TEST(FromEnvironment, PmixWithoutItsServerIsSaid) {
  const ScopedEnvironment environment({{"PMIX_NAMESPACE", "none"}, {"PMIX_RANK", "0"}});
  const auto job = from_environment();
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().code(), ErrorCode::unavailable);
  EXPECT_NE(job.error().message().find("no PMIx server answers"), std::string::npos)
      << job.error().message();
}

TEST(FromEnvironment, JoinTimeoutMustBeATime) {
  for (const char* wrong : {"0", "-3", "nan", "1 mm", "soon", "99999999999"}) {
    const ScopedEnvironment environment(
        {{"PMIX_NAMESPACE", "none"}, {"PMIX_RANK", "0"}, {"STRIPLINE_JOIN_TIMEOUT", wrong}});
    const auto job = from_environment();
    ASSERT_FALSE(job.ok());
    EXPECT_EQ(job.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(job.error().message().find("STRIPLINE_JOIN_TIMEOUT"), std::string::npos);
  }
}

TEST(FromEnvironment, RefusesIncompleteOrImpossibleVariables) {
  const std::map<std::string, std::string> good = {{"STRIPLINE_RANK", "0"},
                                                   {"STRIPLINE_RANKS", "2"},
                                                   {"STRIPLINE_JOB_ID", "j"},
                                                   {"STRIPLINE_CONTROL_FD", "2"}};
  const auto refused_because = [&](const std::string& name, const std::string& value) {
    auto variables = good;
    variables[name] = value;
    const ScopedEnvironment environment(variables);
    const auto job = from_environment();
    EXPECT_FALSE(job.ok()) << name << "=" << value;
    return job.ok() ? std::string() : job.error().message();
  };
  EXPECT_NE(refused_because("STRIPLINE_RANK", "2").find("not possible"), std::string::npos);
  EXPECT_NE(refused_because("STRIPLINE_RANKS", "two").find("not a number"), std::string::npos);
  EXPECT_NE(refused_because("STRIPLINE_RANKS", "4294967295").find("not possible"),
            std::string::npos);
  EXPECT_NE(refused_because("STRIPLINE_JOB_ID", "").find("JOB_ID"), std::string::npos);
  EXPECT_NE(refused_because("STRIPLINE_CONTROL_FD", "987").find("not an open descriptor"),
            std::string::npos);
  const ScopedEnvironment environment(std::map<std::string, std::string>{{"STRIPLINE_RANK", "0"}});
  EXPECT_EQ(from_environment().error().code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stripline::bootstrap
