#include "app/lab/lab_date.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace trocar {
namespace {

using std::chrono::days, std::chrono::sys_days, std::chrono::year_month_day;

}  // namespace

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<double> date_in_text(const std::string& text) {
  const auto digits = [&](const char* form) {
    return text.size() == std::string_view(form).size() &&
           std::ranges::equal(text, std::string_view(form), [](char letter, char shape) {
             return shape == '0' ? letter >= '0' && letter <= '9' : letter == shape;
           });
  };
  if (!digits("0000-00-00") && !digits("0000-00-00 00:00:00")) return {};
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const int read = std::sscanf(text.c_str(), "%4d-%2u-%2u %2u:%2u:%2u", &year, &month, &day, &hour, &minute, &second);
  const year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if ((read != 3 && read != 6) || !date.ok() || hour > 23 || minute > 59 || second > 60) return {};
  return 86400.0 * sys_days(date).time_since_epoch().count() + 3600.0 * hour + 60.0 * minute + second;
}

double date_of_text(const std::string& text) { return date_in_text(text).value_or(0.0); }

bool is_past_date(double seconds) {
  constexpr double kDay = 86400.0;
  return seconds >= 0.0 && seconds <= now_in_seconds() + kDay;
}

std::string text_of_date(double seconds) {
  constexpr double kLast = 253402300799.0;  // 9999-12-31 23:59:59
  if (!(seconds >= 0.0) || seconds > kLast) return "";
  const double day = std::floor(seconds / 86400.0);
  const year_month_day date{sys_days(days(static_cast<int>(day)))};
  const int minutes = static_cast<int>((seconds - 86400.0 * day) / 60.0);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), minutes / 60,
                     minutes % 60);
}

}  // namespace trocar
