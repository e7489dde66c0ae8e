// Serves short pages to many connections, each wait and each buffer with a limit. One loop reads all requests and
// writes all answers without waiting for any of them; a few threads make the pages. So a slow connection costs a
// descriptor and nothing else.
// Units: bytes, milliseconds.   Tested in tests/app/lab_server_test.py
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace trocar {

struct PageLimits {
  std::size_t connections = 200;                // the one that waits longest for its request ends for a new one
  std::size_t request = 8192;                   // of a request line with its headers
  std::size_t body = std::size_t{1} << 20;      // that is read and dropped after the answer
  std::chrono::milliseconds for_request{5000};  // from the connection to the end of the headers
  std::chrono::milliseconds for_answer{30000};  // to take the answer
  std::chrono::milliseconds for_end{1000};      // to close the connection after it
  int threads = 8;                              // that make pages
};

// Returns a socket that listens, or -1 when the port is taken. `port`: 0 for any; becomes the port.
int listen_on(bool anyone, int& port);

// Serves until `ended` returns true, which is asked ten times a second; closes the socket. `answer` makes the whole
// answer to the text of a GET or HEAD request; it runs in several threads. Other methods are refused. Each connection
// gets one answer.
void serve_pages(int socket, const std::function<std::string(const std::string&)>& answer,
                 const std::function<bool()>& ended, const PageLimits& limits = {});

}  // namespace trocar
