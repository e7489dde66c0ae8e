// Tests the reader of pictures for panels: pictures that this file encodes itself come back pixel by pixel; damaged and
// unsuitable files are refused with one sentence that names them.
#include "app/view/picture_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>

#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

void put_number(std::string& to, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(number >> shift & 0xff);
}

// CRC-32 of ISO/IEC 15948, annex D, bit by bit.
std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

std::uint32_t adler_of(const std::string& bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) a = (a + static_cast<unsigned char>(byte)) % 65521, b = (b + a) % 65521;
  return b << 16 | a;
}

std::string chunk(const std::string& name, const std::string& content) {
  std::string text;
  put_number(text, static_cast<std::uint32_t>(content.size()));
  text += name + content;
  put_number(text, crc_of(name + content));
  return text;
}

struct Header {
  std::uint32_t width = 3, height = 2;
  unsigned char colour = 2;  // 2: red, green, blue; 6: and opacity
};

// Encodes rows of samples, from the top, as a PNG file whose compressed stream is one stored block.
std::string encode(const Header& header, const std::string& samples) {
  std::string rows;
  const std::size_t row = samples.size() / header.height;
  for (std::uint32_t k = 0; k < header.height; ++k) rows += '\0' + samples.substr(k * row, row);
  std::string head, stream = "\x78\x01\x01";
  put_number(head, header.width), put_number(head, header.height);
  head += '\x08', head += static_cast<char>(header.colour), head += std::string(3, '\0');
  const auto size = static_cast<std::uint16_t>(rows.size());
  for (const std::uint16_t half : {size, static_cast<std::uint16_t>(~size)})
    stream += static_cast<char>(half & 0xff), stream += static_cast<char>(half >> 8);
  stream += rows;
  put_number(stream, adler_of(rows));
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + chunk("IDAT", stream) + chunk("IEND", "");
}

class PictureFiles : public ::testing::Test {
 protected:
  // Returns the sentence of the error; "read" when there is none.
  std::string sentence(const std::string& content) {
    try {
      read_picture(folder_.write("p.png", content));
    } catch (const InputError& error) {
      return error.what();
    }
    return "read";
  }

  TemporaryFolder folder_;
};

TEST_F(PictureFiles, PixelsComeBack) {
  std::mt19937 random(1401);
  for (const auto& [colour, parts] : {std::pair<unsigned char, int>{2, 3}, {6, 4}}) {
    const Header header{.width = 7, .height = 5, .colour = colour};
    std::string samples;
    for (int k = 0; k < 7 * 5 * parts; ++k) samples += k % parts == 3 ? '\xff' : static_cast<char>(random());
    const PictureFile picture = read_picture(folder_.write("p.png", encode(header, samples)));
    ASSERT_EQ(picture.size, glm::ivec2(7, 5));
    ASSERT_EQ(picture.pixels.size(), 35u);
    for (int row = 0; row < 5; ++row)
      for (int column = 0; column < 7; ++column)
        for (int part = 0; part < 3; ++part)
          EXPECT_EQ(picture.pixels[static_cast<std::size_t>((4 - row) * 7 + column)][part],
                    static_cast<unsigned char>(samples[static_cast<std::size_t>((row * 7 + column) * parts + part)]));
  }
}

TEST_F(PictureFiles, UnsuitableFilesAreOneSentence) {
  const std::string samples(18, 'x');
  EXPECT_EQ(sentence(encode({}, samples)), "read");
  for (const auto& [content, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "not a complete PNG file"},
           {"GIF89a" + samples + samples, "not a complete PNG file"},
           {encode({.width = 0}, samples), "not a complete PNG file"},
           {encode({.width = 1u << 31}, samples), "not a complete PNG file"},
           {encode({.width = 2049}, samples), "2049 x 2 pixels"},
           {encode({.colour = 3}, samples.substr(0, 6)), "not a complete PNG file"},  // no palette
           {std::string(kLargestPictureFile + 1, 'x'), "8 MiB"}}) {
    const std::string text = sentence(content);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("p.png"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
  EXPECT_THROW(read_picture(folder_.path() / "missing.png"), InputError);
  EXPECT_THROW(read_picture(folder_.path()), InputError);
}

TEST_F(PictureFiles, AFileCutShortIsRefused) {
  const std::string whole = encode({}, std::string(18, 'x'));
  const std::size_t end = whole.size() - 12;  // without the last chunk, which is empty
  for (std::size_t size = 0; size < end; ++size) EXPECT_NE(sentence(whole.substr(0, size)), "read") << size;
}

TEST_F(PictureFiles, DamagedBytesNeverCrash) {
  const std::string whole = encode({.width = 30, .height = 20}, std::string(30 * 20 * 3, 'x'));
  std::mt19937 random(1402);
  for (int round = 0; round < 500; ++round) {
    std::string damaged = whole;
    for (unsigned k = 0; k < 1 + random() % 4; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::string text = sentence(damaged);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST_F(PictureFiles, PicturesOfTheScenesAreRead) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(repository_file("data/scenes"))) {
    if (entry.path().extension() != ".png") continue;
    const PictureFile picture = read_picture(entry.path());
    EXPECT_EQ(picture.pixels.size(), std::size_t(picture.size.x) * std::size_t(picture.size.y)) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 7);
}

}  // namespace
}  // namespace trocar
