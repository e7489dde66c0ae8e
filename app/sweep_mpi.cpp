// trocar-sweep-mpi: `trocar sweep` under mpirun. Rank 0 reads the plan, gives cases to all ranks, itself included, and
// writes journal and results; the other ranks run cases and report. Each rank runs `--jobs` cases at a time (default
// 1), as child processes of the program trocar. The folder of the plan must have the same path on every machine.
// Tested in tests/app/sweep_mpi_test.py
#include <fmt/format.h>
#include <mpi.h>

#include <deque>
#include <thread>

#include "app/command_line/command_line.hpp"
#include "app/sweep/sweep.hpp"
#include "geometry/error.hpp"
#include "sim/support/process.hpp"

namespace {

using namespace trocar;

constexpr int kDone = 0, kRunFailed = 1, kWrongInput = 2;      // exit status
constexpr int kStart = 1, kCase = 2, kOutcome = 3, kStop = 4;  // tags of messages
constexpr std::size_t kLongestSentence = 1000;                 // characters
// Receiving blocks a whole core in Open MPI, so messages are looked for between short waits.
constexpr auto kShortWait = std::chrono::milliseconds(2);

// Returns the tag of a message that has arrived, with its text and sender; 0 when there is none.
int receive(std::string& text, int& sender) {
  int arrived = 0, size = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
  if (!arrived) return 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  text.resize(static_cast<std::size_t>(size));
  sender = status.MPI_SOURCE;
  MPI_Recv(text.data(), size, MPI_CHAR, sender, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return status.MPI_TAG;
}

// The workers of rank 0: its own children and the other ranks.
class MpiWorkers final : public Workers {
 public:
  // Sets `abandoned` at the end when other ranks still run cases.
  MpiWorkers(const RunnerParams& params, int ranks, bool& abandoned)
      : own_(params), free_(static_cast<std::size_t>(ranks), params.jobs), jobs_(params.jobs), abandoned_(abandoned) {
    free_[0] = 0;  // counted by own_
    for (int rank = 1; rank < ranks; ++rank) send(rank, kStart, to_line(params));
  }
  // Waits until all messages are sent: their texts must live that long.
  ~MpiWorkers() override {
    abandoned_ = free() < slots();
    if (abandoned_) return;  // the job is aborted
    for (Message& message : sent_) MPI_Wait(&message.request, MPI_STATUS_IGNORE);
  }

  std::size_t slots() const override { return free_.size() * jobs_; }
  std::size_t free() const override {
    std::size_t sum = own_.free();
    for (const std::size_t count : free_) sum += count;
    return sum;
  }
  void start(SweepCase one) override {
    const auto most = std::max_element(free_.begin(), free_.end());
    if (*most == 0) return own_.start(std::move(one));
    --*most;
    send(static_cast<int>(most - free_.begin()), kCase, to_line(one));
  }
  std::vector<CaseOutcome> wait() override {
    std::vector<CaseOutcome> finished = own_.wait(kShortWait);
    std::string text;
    for (int sender = 0; receive(text, sender) == kOutcome;) {
      finished.push_back(outcome_of_line(text));
      ++free_[static_cast<std::size_t>(sender)];
    }
    drop_sent();
    return finished;
  }

 private:
  struct Message {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  // Does not wait, because a worker may be sending a long message to this rank at the same time.
  void send(int rank, int tag, std::string text) {
    Message& message = sent_.emplace_back();
    message.text = std::move(text);
    MPI_Isend(message.text.data(), static_cast<int>(message.text.size()), MPI_CHAR, rank, tag, MPI_COMM_WORLD,
              &message.request);
  }
  void drop_sent() {
    for (int sent = 1; !sent_.empty();) {
      MPI_Test(&sent_.front().request, &sent, MPI_STATUS_IGNORE);
      if (!sent) return;
      sent_.pop_front();
    }
  }

  CaseRunner own_;
  std::vector<std::size_t> free_;  // [rank]
  std::size_t jobs_;
  bool& abandoned_;
  std::deque<Message> sent_;
};

// Runs the cases that rank 0 sends until it sends the end.
void serve() {
  std::unique_ptr<CaseRunner> runner;
  std::string text;
  while (!interrupted()) {
    int sender = 0;
    for (int tag; (tag = receive(text, sender)) != 0;) {
      if (tag == kStop) return;
      if (tag == kStart) runner = std::make_unique<CaseRunner>(runner_params_of_line(text));
      if (tag == kCase) runner->start(case_of_line(text));
    }
    if (!runner) {
      std::this_thread::sleep_for(kShortWait);
      continue;
    }
    for (const CaseOutcome& outcome : runner->wait(kShortWait)) {
      const std::string line = to_line(outcome);
      MPI_Send(line.data(), static_cast<int>(line.size()), MPI_CHAR, 0, kOutcome, MPI_COMM_WORLD);
    }
  }
  runner.reset();  // ends its children and removes its files
  throw RunError("a rank was stopped; the same command goes on where the sweep stopped");
}

void complain(const std::string& what) {
  fmt::print(stderr, "trocar-sweep-mpi: {}\n", printable(what, kLongestSentence));
}

int run_rank(int argument_count, char** arguments, int rank, int ranks, bool& abandoned) {
  if (rank != 0) {
    catch_interrupts();
    serve();
    return kDone;
  }
  Command program("trocar-sweep-mpi", "Runs the cases of a plan on all ranks of an MPI job; results in one table");
  SweepOptions options;
  options.jobs = 1;
  options.program = (std::filesystem::path(own_program()).parent_path() / "trocar").string();
  add_sweep_options(program, options);
  program.runs([&] {
    run_sweep(options, [ranks, &abandoned](const RunnerParams& params) {
      return std::make_unique<MpiWorkers>(params, ranks, abandoned);
    });
  });
  if (const Command* command = parse(program, {arguments + 1, arguments + argument_count})) command->run();
  return kDone;
}

}  // namespace

int main(int argument_count, char** arguments) {
  MPI_Init(&argument_count, &arguments);
  int rank = 0, ranks = 1, status = kDone;
  bool abandoned = false;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    status = run_rank(argument_count, arguments, rank, ranks, abandoned);
  } catch (const UsageError& error) {
    complain(fmt::format("{}; see trocar-sweep-mpi --help", error.what()));
    status = kWrongInput;
  } catch (const InputError& error) {
    complain(error.what());
    status = kWrongInput;
  } catch (const std::exception& error) {
    complain(error.what());
    status = kRunFailed;
  }
  std::fflush(stdout);
  if (abandoned || (rank != 0 && status != kDone)) MPI_Abort(MPI_COMM_WORLD, kRunFailed);
  if (rank == 0)
    for (int other = 1; other < ranks; ++other) MPI_Send(nullptr, 0, MPI_CHAR, other, kStop, MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}
