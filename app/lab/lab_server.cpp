#include "app/lab/lab_server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>
#include <cstring>

#include "app/lab/lab_page.hpp"
#include "app/lab/page_server.hpp"
#include "geometry/printable.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

constexpr std::size_t kPeopleOnAPage = 50, kAttemptsOnAPage = 200;
// The pages contain no scripts, and load nothing.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

class NotFound : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::size_t number_of(const httplib::Request& request, const char* name, std::size_t absent) {
  if (!request.has_param(name)) return absent;
  const std::string text = request.get_param_value(name);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > 1'000'000'000)
    throw NotFound(fmt::format("{} is not a number", name));
  return number;
}

std::string cohort_of(LabDatabase& lab, const httplib::Request& request) {
  CohortPage page;
  page.part = printable(request.get_param_value("part"), 60);
  page.skip = number_of(request, "skip", 0);
  page.people = lab.people({page.part, PersonOrder::LastAttempt, kPeopleOnAPage + 1, page.skip});
  page.more = page.people.size() > kPeopleOnAPage;
  if (page.more) page.people.pop_back();
  for (const PersonSummary& one : page.people)
    for (Standing& s : lab.standings(one.person.id, "")) page.standings.push_back(std::move(s));
  page.counts = lab.counts();
  return cohort_page(page);
}

std::string person_of(LabDatabase& lab, const httplib::Request& request) {
  const std::string id = request.get_param_value("id");
  const auto person = lab.person(id);
  if (!person) throw NotFound(fmt::format("no person has the id '{}'", printable(id)));
  return person_page({*person, lab.standings(id, ""),
                      lab.attempts({.person = id, .scene = "", .most = kAttemptsOnAPage}),
                      request.get_param_value("task"), static_cast<int>(number_of(request, "level", 1))});
}

// A page from elsewhere may send its own name to this machine's address and so read the answers (DNS rebinding).
bool names_this_machine(const httplib::Request& request) {
  std::string host = request.get_header_value("Host");
  host.resize(std::min(host.size(), host.rfind(':')));
  return host == "127.0.0.1" || host == "localhost";
}

void answer(const LabStation& station, const httplib::Request& request, httplib::Response& response,
            std::string (*page)(LabDatabase&, const httplib::Request&)) {
  std::string text;
  try {
    LabDatabase lab = station.open_to_read();
    text = page(lab, request);
    if (!lab.unreadable().empty()) text += unreadable_note(lab.unreadable());
  } catch (const NotFound& error) {
    response.status = 404;
    text = failure_page(404, error.what());
  } catch (const std::exception& error) {
    response.status = 503;
    text = failure_page(503, error.what());
  }
  response.set_content(text, "text/html; charset=utf-8");
}

// The text of a request, and that of its answer.
class TextStream : public httplib::Stream {
 public:
  explicit TextStream(const std::string& request) : request_(request) {}
  const std::string& answer() const { return answer_; }

  bool is_readable() const override { return read_ < request_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, request_.size() - read_);
    std::memcpy(to, request_.data() + read_, count);
    read_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    answer_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return -1; }

 private:
  const std::string& request_;
  std::size_t read_ = 0;
  std::string answer_;
};

// The library reads requests and finds the page; connections are served by page_server.hpp.
class Pages : private httplib::Server {
 public:
  Pages(const LabStation& station, bool anyone);
  std::string answer_to(const std::string& request) {
    TextStream stream(request);
    bool closed = true;
    process_request(stream, true, closed, nullptr);
    return stream.answer();
  }
};

Pages::Pages(const LabStation& station, bool anyone) {
  set_default_headers({{"Content-Security-Policy", kPolicy},
                       {"X-Content-Type-Options", "nosniff"},
                       {"Referrer-Policy", "no-referrer"},
                       {"Cache-Control", "no-store"}});
  set_pre_routing_handler([anyone](const auto& request, auto& response) {
    if (anyone || names_this_machine(request)) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    response.set_content(failure_page(403, "This address does not name this machine."), "text/html; charset=utf-8");
    return httplib::Server::HandlerResponse::Handled;
  });
  Get("/", [&station](const auto& request, auto& response) { answer(station, request, response, cohort_of); });
  Get("/person", [&station](const auto& request, auto& response) { answer(station, request, response, person_of); });
  set_error_handler([](const auto&, auto& response) {
    if (response.body.empty())
      response.set_content(failure_page(response.status, "There is no such page."), "text/html; charset=utf-8");
  });
}

}  // namespace

void serve_lab(const LabStation& station, const LabServerParams& params, const std::function<void(int)>& ready) {
  Pages pages(station, params.anyone);
  int port = params.port;
  const int socket = listen_on(params.anyone, port);
  if (socket < 0) throw InputError(fmt::format("port {} is taken; choose another with --port", params.port));
  bool told = false;
  serve_pages(
      socket, [&](const std::string& request) { return pages.answer_to(request); },
      [&] {
        if (!told) ready(port);
        told = true;
        return interrupted();
      });
}

}  // namespace trocar
