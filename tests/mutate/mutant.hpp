// Defines the functions that mutated expressions call. The mutation run includes this file before every translation
// unit of its scratch copy; the project itself never does. Every function computes the original expression, unless its
// mutant is the active one (environment variable TROCAR_MUTANT). Constant evaluation always computes the original.
// Tested by tests/mutate/mutate_test.py
//
// No include guard: every mutated header includes it for itself, in its own namespace (TROCAR_MUT_SPACE), so that
// within a `#pragma GCC target` the functions here have the same target as the functions that they call.
#ifndef TROCAR_MUT_SPACE
#define TROCAR_MUT_SPACE trocar_mut
#endif

#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

extern unsigned char trocar_mutant_flag[];    // [mutant] not 0: trocar_mutant_hit must be called
bool trocar_mutant_hit(int mutant) noexcept;  // records that the mutant was reached; true if it is the active one

namespace TROCAR_MUT_SPACE {

#define TROCAR_MUT [[gnu::always_inline]] inline constexpr

template <int I>
TROCAR_MUT bool on() {
  if (std::is_constant_evaluated()) return false;
  return __builtin_expect(trocar_mutant_flag[I], 0) && trocar_mutant_hit(I);
}

template <class>
constexpr bool kNever = false;

// A mutant whose expression does not compile or has another type is a compile error; the driver then drops the site.
#define TROCAR_MUT_BINARY(NAME, ORIGINAL, MUTANT)                  \
  template <int I, class A, class B>                               \
  TROCAR_MUT auto NAME(const A& a, const B& b) {                   \
    using Result = std::decay_t<decltype(a ORIGINAL b)>;           \
    if constexpr (requires { static_cast<Result>(a MUTANT b); }) { \
      if (on<I>()) return static_cast<Result>(a MUTANT b);         \
    } else {                                                       \
      static_assert(kNever<A>, "mutant without meaning");          \
    }                                                              \
    return static_cast<Result>(a ORIGINAL b);                      \
  }
TROCAR_MUT_BINARY(add, +, -)
TROCAR_MUT_BINARY(div, /, *)
TROCAR_MUT_BINARY(mod, %, *)
TROCAR_MUT_BINARY(eq, ==, !=)
TROCAR_MUT_BINARY(ne, !=, ==)
TROCAR_MUT_BINARY(bit_and, &, |)
TROCAR_MUT_BINARY(bit_or, |, &)
TROCAR_MUT_BINARY(bit_xor, ^, &)
TROCAR_MUT_BINARY(left, <<, >>)
TROCAR_MUT_BINARY(right, >>, <<)

// A vector times a number may have no quotient: there the product doubles.
template <int I, class A, class B>
TROCAR_MUT auto mul(const A& a, const B& b) {
  using Result = std::decay_t<decltype(a * b)>;
  if constexpr (requires { static_cast<Result>(a / b); }) {
    if (on<I>()) return static_cast<Result>(a / b);
  } else if constexpr (requires { static_cast<Result>(a * b + a * b); }) {
    if (on<I>()) return static_cast<Result>(a * b + a * b);
  } else {
    static_assert(kNever<A>, "mutant without meaning");
  }
  return static_cast<Result>(a * b);
}

// The difference of two pointers or iterators has no sum: there the sign flips.
template <int I, class A, class B>
TROCAR_MUT auto sub(const A& a, const B& b) {
  using Result = std::decay_t<decltype(a - b)>;
  if constexpr (requires { static_cast<Result>(a + b); }) {
    if (on<I>()) return static_cast<Result>(a + b);
  } else if constexpr (requires { static_cast<Result>(b - a); }) {
    if (on<I>()) return static_cast<Result>(b - a);
  } else {
    static_assert(kNever<A>, "mutant without meaning");
  }
  return static_cast<Result>(a - b);
}

// Mutant I negates the comparison; mutant I + 1 moves its boundary to the other side.
#define TROCAR_MUT_COMPARE(NAME, ORIGINAL, NEGATED, BOUNDARY)                                \
  template <int I, class A, class B>                                                         \
  TROCAR_MUT auto NAME(const A& a, const B& b) {                                             \
    if (on<I>()) return static_cast<std::decay_t<decltype(a ORIGINAL b)>>(a NEGATED b);      \
    if (on<I + 1>()) return static_cast<std::decay_t<decltype(a ORIGINAL b)>>(a BOUNDARY b); \
    return static_cast<std::decay_t<decltype(a ORIGINAL b)>>(a ORIGINAL b);                  \
  }
TROCAR_MUT_COMPARE(less, <, >=, <=)
TROCAR_MUT_COMPARE(less_equal, <=, >, <)
TROCAR_MUT_COMPARE(greater, >, <=, >=)
TROCAR_MUT_COMPARE(greater_equal, >=, <, >)

#define TROCAR_MUT_ASSIGN(NAME, ORIGINAL, MUTANT)         \
  template <int I, class A, class B>                      \
  TROCAR_MUT A& NAME(A& a, const B& b) {                  \
    if constexpr (requires { a MUTANT b; }) {             \
      if (on<I>()) return a MUTANT b, a;                  \
    } else {                                              \
      static_assert(kNever<A>, "mutant without meaning"); \
    }                                                     \
    return a ORIGINAL b, a;                               \
  }
TROCAR_MUT_ASSIGN(add_to, +=, -=)
TROCAR_MUT_ASSIGN(sub_from, -=, +=)
TROCAR_MUT_ASSIGN(mul_by, *=, /=)
TROCAR_MUT_ASSIGN(div_by, /=, *=)
TROCAR_MUT_ASSIGN(and_with, &=, |=)
TROCAR_MUT_ASSIGN(or_with, |=, &=)

template <int I, class A>
TROCAR_MUT auto neg(const A& a) {
  if (on<I>()) return static_cast<std::decay_t<decltype(-a)>>(a);
  return static_cast<std::decay_t<decltype(-a)>>(-a);
}

template <int I, class A>
TROCAR_MUT bool not_(const A& a) {
  return on<I>() != !static_cast<bool>(a);
}

// Mutant I adds one (doubles the value beyond 1000, where one is little); mutant I + 1 changes the sign.
template <int I, class T>
TROCAR_MUT T num(T x) {
  static_assert(std::is_arithmetic_v<T>, "mutant without meaning");
  if (on<I>()) {
    if (sizeof(T) >= 4 && x > T(1000)) return static_cast<T>(x + x);
    return static_cast<T>(x + T(1));
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (on<I + 1>()) return -x;
  }
  return x;
}

#if defined(__x86_64__)
#define TROCAR_MUT_SIMD(TARGET, TYPE, ORIGINAL, MUTANT)                              \
  template <int I>                                                                   \
  [[gnu::always_inline, gnu::target(TARGET)]] inline TYPE ORIGINAL(TYPE a, TYPE b) { \
    return on<I>() ? ::MUTANT(a, b) : ::ORIGINAL(a, b);                              \
  }
#define TROCAR_MUT_SIMD_ALL(TARGET, TYPE, BEFORE, AFTER)                \
  TROCAR_MUT_SIMD(TARGET, TYPE, BEFORE##add##AFTER, BEFORE##sub##AFTER) \
  TROCAR_MUT_SIMD(TARGET, TYPE, BEFORE##sub##AFTER, BEFORE##add##AFTER) \
  TROCAR_MUT_SIMD(TARGET, TYPE, BEFORE##mul##AFTER, BEFORE##add##AFTER) \
  TROCAR_MUT_SIMD(TARGET, TYPE, BEFORE##min##AFTER, BEFORE##max##AFTER) \
  TROCAR_MUT_SIMD(TARGET, TYPE, BEFORE##max##AFTER, BEFORE##min##AFTER)
TROCAR_MUT_SIMD_ALL("sse2", __m128, _mm_, _ps)
TROCAR_MUT_SIMD_ALL("avx", __m256, _mm256_, _ps)
TROCAR_MUT_SIMD_ALL("avx", __m256d, _mm256_, _pd)
#endif

}  // namespace TROCAR_MUT_SPACE

#undef TROCAR_MUT_SPACE
#undef TROCAR_MUT
#undef TROCAR_MUT_BINARY
#undef TROCAR_MUT_COMPARE
#undef TROCAR_MUT_ASSIGN
#undef TROCAR_MUT_SIMD
#undef TROCAR_MUT_SIMD_ALL
