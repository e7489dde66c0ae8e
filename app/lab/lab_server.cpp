#include "app/lab/lab_server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>
#include <thread>

#include "app/lab/lab_page.hpp"
#include "geometry/printable.hpp"
#include "sim/support/interrupt.hpp"

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
    LabDatabase lab = station.open();
    text = page(lab, request);
  } catch (const NotFound& error) {
    response.status = 404;
    text = failure_page(404, error.what());
  } catch (const std::runtime_error& error) {
    response.status = 503;
    text = failure_page(503, error.what());
  }
  response.set_content(text, "text/html; charset=utf-8");
}

}  // namespace

void serve_lab(const LabStation& station, const LabServerParams& params, const std::function<void(int)>& ready) {
  httplib::Server server;
  server.set_default_headers({{"Content-Security-Policy", kPolicy},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cache-Control", "no-store"}});
  server.set_pre_routing_handler([&](const auto& request, auto& response) {
    if (params.anyone || names_this_machine(request)) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    response.set_content(failure_page(403, "This address does not name this machine."), "text/html; charset=utf-8");
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Get("/", [&](const auto& request, auto& response) { answer(station, request, response, cohort_of); });
  server.Get("/person", [&](const auto& request, auto& response) { answer(station, request, response, person_of); });
  server.set_error_handler([](const auto&, auto& response) {
    if (response.body.empty())
      response.set_content(failure_page(response.status, "There is no such page."), "text/html; charset=utf-8");
  });
  // The library's default lets a second program share the port.
  server.set_socket_options([](socket_t socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
  const char* host = params.anyone ? "0.0.0.0" : "127.0.0.1";
  const int port = params.port == 0                         ? server.bind_to_any_port(host)
                   : server.bind_to_port(host, params.port) ? params.port
                                                            : -1;
  if (port <= 0) throw InputError(fmt::format("port {} is taken; choose another with --port", params.port));
  // Stops the server when the program is interrupted.
  std::atomic<bool> ended = false;
  std::thread watch([&] {
    while (!interrupted() && !ended) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    server.stop();
  });
  ready(port);
  server.listen_after_bind();
  ended = true;
  watch.join();
}

}  // namespace trocar
