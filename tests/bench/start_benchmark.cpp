// How long a program takes from its start to its end under one preloaded library and under another,
// by turns. Prints "MICROSECONDS MICROSECONDS" for each round.
//
// Usage: start_benchmark ROUNDS LIBRARY LIBRARY PROGRAM [ARGUMENTS]
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::vector<char*> environment_with(std::string& preload) {
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0) environment.push_back(*entry);
  environment.push_back(preload.data());
  environment.push_back(nullptr);
  return environment;
}

double run_us(char** command, char** environment) {
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, command[0], nullptr, nullptr, command, environment) != 0 ||
      waitpid(child, &status, 0) != child || status != 0) {
    std::fprintf(stderr, "start_benchmark: %s failed\n", command[0]);
    std::exit(1);
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: start_benchmark ROUNDS LIBRARY LIBRARY PROGRAM [ARGUMENTS]\n");
    return 2;
  }
  std::string first_preload = std::string("LD_PRELOAD=") + argv[2];
  std::string second_preload = std::string("LD_PRELOAD=") + argv[3];
  std::vector<char*> first = environment_with(first_preload);
  std::vector<char*> second = environment_with(second_preload);
  for (int round = std::atoi(argv[1]); round > 0; --round) {
    double first_us = 0;
    double second_us = 0;
    const bool first_goes_first = round % 2 == 0;
    if (first_goes_first) first_us = run_us(argv + 4, first.data());
    second_us = run_us(argv + 4, second.data());
    if (!first_goes_first) first_us = run_us(argv + 4, first.data());
    std::printf("%.1f %.1f\n", first_us, second_us);
  }
}
