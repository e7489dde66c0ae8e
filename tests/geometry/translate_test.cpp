// Tests the catalogue of texts: lookup, plural forms, places of formats, damaged files.
#include "geometry/translate.hpp"

#include <random>

#include "geometry/error.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

constexpr const char* kPo = R"po(# A comment
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);\n"
"X-Language-Name: Test\n"

#: somewhere.cpp:1
msgid "Start"
msgstr "Los"

msgid "target {} of {}"
msgstr "von {1} Zielen "
"das {0}."

#, fuzzy, c-format
msgid "Fuzzy"
msgstr "Ungenau"

msgid "Empty"
msgstr ""

msgid "force {:.1f} N"
msgstr "Kraft {:.2f} N"

msgid "{} error"
msgid_plural "{} errors"
msgstr[0] "{} Fehler eins"
msgstr[1] "{} Fehler zwei"
msgstr[2] "{} Fehler viele"

msgid "a \"quote\"\n"
msgstr "ein \"Zitat\"\n"

#~ msgid "Old"
#~ msgstr "Alt"
)po";

class Translate : public ::testing::Test {
 protected:
  ~Translate() override { use_catalogue(nullptr); }
};

TEST_F(Translate, WithoutACatalogueTextsAreEnglish) {
  EXPECT_STREQ(tr("Start"), "Start");
  EXPECT_STREQ(tr(""), "");
  EXPECT_EQ(trf("target {} of {}", 1, 5), "target 1 of 5");
  EXPECT_EQ(ntrf("{} error", "{} errors", 1, 1), "1 error");
  EXPECT_EQ(ntrf("{} error", "{} errors", 0, 0), "0 errors");
}

TEST_F(Translate, TextsPlacesAndPluralsAreThoseOfTheCatalogue) {
  const auto catalogue = std::make_shared<Catalogue>(kPo, "test.po");
  EXPECT_EQ(catalogue->name(), "Test");
  EXPECT_EQ(catalogue->size(), 4u);  // without the fuzzy, the empty and the one with another place
  use_catalogue(catalogue);
  EXPECT_STREQ(tr("Start"), "Los");
  EXPECT_EQ(tr(std::string("Start")), "Los");
  EXPECT_STREQ(tr(""), "") << "the header is not a text";
  EXPECT_STREQ(tr("Fuzzy"), "Fuzzy");
  EXPECT_STREQ(tr("Old"), "Old");
  EXPECT_STREQ(tr("a \"quote\"\n"), "ein \"Zitat\"\n");
  EXPECT_EQ(trf("target {} of {}", 1, 5), "von 5 Zielen das 1.");
  EXPECT_EQ(trf("force {:.1f} N", 1.25), fmt::format("force {:.1f} N", 1.25));
  for (const auto& [n, text] : {std::pair{1, "eins"}, {2, "zwei"}, {11, "viele"}, {12, "viele"}, {101, "eins"}})
    EXPECT_EQ(ntrf("{} error", "{} errors", static_cast<unsigned long>(n), n), fmt::format("{} Fehler {}", n, text));
  std::string hint = "hint: ";
  append_trf(hint, "target {} of {}", 2, 3);
  EXPECT_EQ(hint, "hint: von 3 Zielen das 2.");
  use_catalogue(nullptr);
  EXPECT_STREQ(tr("Start"), "Start");
}

TEST_F(Translate, PlacesMustBeThoseOfTheEnglish) {
  EXPECT_TRUE(places_fit("{} of {}", "{1} {0}"));
  EXPECT_TRUE(places_fit("{} of {}", "{}"));
  EXPECT_TRUE(places_fit("no place {{}}", "kein {{}}"));
  EXPECT_TRUE(places_fit("{0:.0f} % and {0:.0f} %", "{0:.0f}"));
  for (const char* bad : {"{2}", "{:d}", "{", "}", "{} {1}", "{x}", "{0:{1}}", "{999999999999999999999}"})
    EXPECT_FALSE(places_fit("{} of {}", bad)) << bad;
}

TEST_F(Translate, PluralExpressions) {
  EXPECT_EQ(plural_form("n != 1", 1), 0u);
  EXPECT_EQ(plural_form(" (n > 1) ", 2), 1u);
  EXPECT_EQ(plural_form("n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : 3", 2), 2u);
  EXPECT_EQ(plural_form("!n + 2*3 - 10/5", 0), 5u);
  EXPECT_EQ(plural_form("0", 7), 0u);
  for (const char* bad : {"", "n %", "n / 0", "n % 0", "(n", "n = 1", "x", "n ? 1", "nn"})
    EXPECT_EQ(plural_form(bad, 3), 0u) << bad;
  EXPECT_EQ(plural_form(std::string(100000, '('), 3), 0u);
  EXPECT_EQ(plural_form(std::string(100000, '!'), 3), 0u);
}

TEST_F(Translate, DamagedFilesAreASentenceWithTheirLine) {
  const auto fault = [](std::string_view text) -> std::string {
    try {
      const Catalogue catalogue(text, "x.po");
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(fault(""), "");
  EXPECT_NE(fault("msgid \"a\"\nmsgstr b\n").find("x.po:2: "), std::string::npos);
  for (const char* bad : {"hello", "msgid \"a", "msgstr \"a\"", "msgid \"a\"\nmsgstr \"\\x\"", "\"a\"", "msgid \"a\"\"",
                          "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[1] \"c\"", "msgid \"a\"\nmsgstr \"b\\\""})
    EXPECT_NE(fault(bad), "") << bad;
  // Any change of a byte gives a catalogue or a sentence.
  std::mt19937 dice(7);
  const std::string whole = kPo;
  for (int k = 0; k < 3000; ++k) {
    std::string text = whole.substr(0, k % 3 ? whole.size() : dice() % whole.size());
    for (int n = 0; n < 3 && !text.empty(); ++n) text[dice() % text.size()] = static_cast<char>(dice());
    fault(text);
  }
}

}  // namespace
}  // namespace trocar
