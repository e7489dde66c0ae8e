// Runs a fuzz target without libFuzzer: every file of a corpus, then random changes of them until the time is over.
//   TARGET SECONDS SEED CORPUS...    seed 0 selects a random seed
// A crash leaves the input in fuzz_crash.bin in the current folder. The seed is printed; the same seed gives the same
// inputs.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz_target.hpp"

namespace {

using Input = std::vector<std::uint8_t>;

Input g_current;  // the present input of the target; the crash handler writes it

void keep_input(int signal) {
  const int file = open("fuzz_crash.bin", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0) {
    const auto written = write(file, g_current.data(), g_current.size());
    close(file);
    constexpr char kText[] = "the input that crashed is in fuzz_crash.bin\n";
    if (written >= 0 && write(STDERR_FILENO, kText, sizeof kText - 1) < 0) _exit(1);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

std::vector<Input> corpus_of(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : folders)
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Input> corpus;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return corpus;
}

class Mutator {
 public:
  Mutator(std::vector<Input> corpus, std::uint64_t seed) : corpus_(std::move(corpus)), random_(seed) {}

  Input next() {
    Input input = corpus_[below(corpus_.size())];
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(input);
    return input;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void change(Input& input) {
    const std::size_t at = below(input.size());
    if (input.empty()) return input.push_back(static_cast<std::uint8_t>(random_()));
    switch (below(7)) {
      case 0:
        input[at] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        input[at] = static_cast<std::uint8_t>(random_());
        break;
      case 2:
        input.resize(at);
        break;
      case 3:
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), 1 + below(64), input[at]);
        break;
      case 4:
        remove_some(input, at);
        break;
      case 5:
        splice(input, at);
        break;
      default:
        put_extreme(input, at);
        break;
    }
  }

  void remove_some(Input& input, std::size_t at) {
    const std::size_t count = 1 + below(std::min<std::size_t>(input.size() - at, 64));
    input.erase(input.begin() + static_cast<std::ptrdiff_t>(at),
                input.begin() + static_cast<std::ptrdiff_t>(std::min(at + count, input.size())));
  }

  // Replaces a stretch by a stretch of another input.
  void splice(Input& input, std::size_t at) {
    const Input& other = corpus_[below(corpus_.size())];
    if (other.empty()) return;
    const std::size_t from = below(other.size()), count = 1 + below(std::min<std::size_t>(other.size() - from, 256));
    input.resize(at);
    input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(from),
                 other.begin() + static_cast<std::ptrdiff_t>(std::min(from + count, other.size())));
  }

  // Writes an extreme value, which readers may interpret as a count or a size.
  void put_extreme(Input& input, std::size_t at) {
    static constexpr std::uint64_t kValues[] = {0,          1,          0x7fffffff,         0x80000000,
                                                0xffffffff, 0x10000000, 0x7fffffffffffffff, 0xffffffffffffffff};
    const std::uint64_t value = kValues[below(std::size(kValues))];
    const std::size_t width = std::size_t{1} << below(4);
    for (std::size_t k = 0; k < width && at + k < input.size(); ++k)
      input[at + k] = static_cast<std::uint8_t>(value >> (8 * k));
  }

  std::vector<Input> corpus_;
  std::mt19937_64 random_;
};

void run(const Input& input) {
  constexpr unsigned kPatience = 30;  // s  time limit per input; SIGALRM then saves it and ends the program
  g_current = input;
  alarm(kPatience);
  LLVMFuzzerTestOneInput(g_current.data(), g_current.size());
  alarm(0);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: %s SECONDS SEED CORPUS...\n", arguments[0]);
    return 2;
  }
  const double seconds = std::atof(arguments[1]);
  std::uint64_t seed = std::strtoull(arguments[2], nullptr, 10);
  if (seed == 0) seed = std::random_device{}();
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) std::signal(signal, keep_input);
  const std::vector<Input> corpus = corpus_of({arguments + 3, arguments + count});
  if (corpus.empty()) {
    std::fprintf(stderr, "the corpus contains no input\n");
    return 1;
  }
  for (const Input& input : corpus) run(input);
  std::printf("%zu corpus inputs; random changes for %g s, seed %llu\n", corpus.size(), seconds,
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  Mutator mutator(corpus, seed);
  std::size_t executions = 0;
  for (; std::chrono::steady_clock::now() < end; ++executions) run(mutator.next());
  std::printf("%zu executions, no crash\n", executions);
  return 0;
}
