// Supplies the parts of the C++20 library that Emscripten 3.1.6 (libc++ 13) lacks and the rooms use. The build includes
// this file before each source; no source includes it. To be removed with an Emscripten of libc++ 16 or later.
// Tested by every test that runs under node.
#pragma once

#include <fast_float/fast_float.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <type_traits>

// These names would be the library's own.
namespace std {

template <typename To, typename From>
To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From) && is_trivially_copyable_v<To> && is_trivially_copyable_v<From>);
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

template <typename Number>
enable_if_t<is_floating_point_v<Number>, from_chars_result> from_chars(const char* first, const char* last,
                                                                       Number& value) {
  const auto [end, error] = fast_float::from_chars(first, last, value);
  return {end, error};
}

// Only chars_format::general, which is that of printf's %g.
inline to_chars_result to_chars(char* first, char* last, double value, chars_format, int precision) {
  const int written = snprintf(first, static_cast<size_t>(last - first), "%.*g", precision, value);
  return {first + written, errc{}};
}

namespace ranges {

template <typename Range, typename Test, typename Projection = identity>
auto find_if(Range&& range, Test test, Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](auto&& item) { return std::invoke(test, std::invoke(projection, item)); });
}
template <typename Range, typename Value, typename Projection = identity>
auto find(Range&& range, const Value& value, Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](auto&& item) { return std::invoke(projection, item) == value; });
}
template <typename Range, typename Test, typename Projection = identity>
bool any_of(Range&& range, Test test, Projection projection = {}) {
  return ranges::find_if(range, test, projection) != std::end(range);
}
template <typename Range, typename Test, typename Projection = identity>
bool all_of(Range&& range, Test test, Projection projection = {}) {
  return !ranges::any_of(
      range, [&](auto&& item) { return !std::invoke(test, item); }, projection);
}
template <typename Range, typename Test, typename Projection = identity>
bool none_of(Range&& range, Test test, Projection projection = {}) {
  return !ranges::any_of(range, test, projection);
}
template <typename Range, typename Value, typename Projection = identity>
auto count(Range&& range, const Value& value, Projection projection = {}) {
  return std::count_if(std::begin(range), std::end(range),
                       [&](auto&& item) { return std::invoke(projection, item) == value; });
}
template <typename Range, typename Test, typename Projection = identity>
auto count_if(Range&& range, Test test, Projection projection = {}) {
  return std::count_if(std::begin(range), std::end(range),
                       [&](auto&& item) { return std::invoke(test, std::invoke(projection, item)); });
}
template <typename Range, typename Order = std::less<>, typename Projection = identity>
void sort(Range&& range, Order order = {}, Projection projection = {}) {
  std::sort(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
    return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));
  });
}
template <typename Range, typename Order = std::less<>, typename Projection = identity>
void stable_sort(Range&& range, Order order = {}, Projection projection = {}) {
  std::stable_sort(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
    return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));
  });
}
template <typename Range, typename Value, typename Order = std::less<>, typename Projection = identity>
auto lower_bound(Range&& range, const Value& value, Order order = {}, Projection projection = {}) {
  return std::lower_bound(std::begin(range), std::end(range), value, [&](const auto& item, const auto& wanted) {
    return std::invoke(order, std::invoke(projection, item), wanted);
  });
}
template <typename Range, typename Order = std::less<>, typename Projection = identity>
auto max_element(Range&& range, Order order = {}, Projection projection = {}) {
  return std::max_element(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
    return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));
  });
}
template <typename Range, typename Order = std::less<>, typename Projection = identity>
auto min_element(Range&& range, Order order = {}, Projection projection = {}) {
  return std::min_element(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
    return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));
  });
}
template <typename Range, typename Test>
auto adjacent_find(Range&& range, Test test) {
  return std::adjacent_find(std::begin(range), std::end(range), test);
}
template <typename Range>
bool is_sorted(Range&& range) {
  return std::is_sorted(std::begin(range), std::end(range));
}
template <typename Range, typename Value>
void fill(Range&& range, const Value& value) {
  std::fill(std::begin(range), std::end(range), value);
}
template <typename Range, typename Out, typename Test, typename Projection = identity>
auto copy_if(Range&& range, Out out, Test test, Projection projection = {}) {
  return std::copy_if(std::begin(range), std::end(range), out,
                      [&](auto&& item) { return std::invoke(test, std::invoke(projection, item)); });
}
template <typename A, typename B, typename Same = std::equal_to<>, typename ProjectA = identity,
          typename ProjectB = identity>
bool equal(A&& a, B&& b, Same same = {}, ProjectA of_a = {}, ProjectB of_b = {}) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b),
                    [&](auto&& x, auto&& y) { return std::invoke(same, std::invoke(of_a, x), std::invoke(of_b, y)); });
}

}  // namespace ranges
}  // namespace std
