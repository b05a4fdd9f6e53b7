// SPDX-License-Identifier: BSL-1.0
// Runs test cases in every process of an MPI program. The processes agree on what is run by running
// the same; what a process other than the first prints is shown if it fails.
#include "support/catch.hpp"
#include <shardwise/mpi.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <unistd.h>

int main(int count, char* arguments[]) {
  const auto processes = shardwise::current_group::get();
  const long self = processes != nullptr ? processes->index() : 0;
  const std::string report = (std::filesystem::temp_directory_path() /
                              ("shardwise_mpi." + std::to_string(getpid()) + ".txt"))
                                 .string();
  Catch::Session session;
  if (const int status = session.applyCommandLine(count, arguments); status != 0) return status;
  Catch::ConfigData& options = session.configData();
  // Processes that have failed at different places wait for each other in vain.
  options.abortAfter = 1;
  if (self > 0) {
#if __has_include(<catch2/catch_session.hpp>)
    options.defaultOutputFilename = report;
#else
    options.outputFilename = report;
#endif
  }
  const int status = session.run();
  if (self > 0) {
    if (status != 0) {
      std::stringstream text;
      text << std::ifstream(report).rdbuf();
      std::cerr << "process " << self << ":\n" << text.str();
    }
    std::remove(report.c_str());
  }
  return status;
}
