// Compares our messages with libOpenIGTLink's classes, in both directions. Tests streams in pieces and every kind of
// invalid data.
#include "sim/link/igtl_wire.hpp"

#include <gtest/gtest.h>
#include <igtlSensorMessage.h>
#include <igtlStatusMessage.h>
#include <igtlTrackingDataMessage.h>
#include <igtlTransformMessage.h>
#include <igtl_unit.h>
#include <igtl_util.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <glm/gtc/matrix_transform.hpp>
#include <optional>
#include <random>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::igtl_wire_test {
namespace {

using Bytes = std::vector<std::byte>;

glm::dmat4 some_pose() {
  const glm::dmat4 turned = glm::rotate(glm::dmat4(1.0), 0.7, glm::normalize(glm::dvec3(1, 2, -3)));
  return glm::translate(glm::dmat4(1.0), glm::dvec3(0.123, -0.045, 0.210)) * turned;
}

double difference(const glm::dmat4& a, const glm::dmat4& b) {
  double worst = 0.0;
  for (int c = 0; c < 4; ++c) worst = std::max(worst, glm::length(a[c] - b[c]));
  return worst;
}

struct Heard {
  std::vector<NamedPose> poses;
  std::vector<std::pair<std::string, std::vector<double>>> sensors;
  IgtlListener listener() {
    return {[this](std::string_view name, const glm::dmat4& pose) {
              poses.push_back({std::string(name), pose});
            },
            [this](std::string_view name, std::span<const double> values) {
              sensors.emplace_back(name, std::vector<double>(values.begin(), values.end()));
            }};
  }
};

// Unpacks our bytes with libOpenIGTLink's class, including the checksum.
template <typename Message>
typename Message::Pointer unpacked(const Bytes& bytes) {
  auto header = igtl::MessageHeader::New();
  header->InitPack();
  std::memcpy(header->GetPackPointer(), bytes.data(), static_cast<std::size_t>(header->GetPackSize()));
  header->Unpack();
  auto message = Message::New();
  message->SetMessageHeader(header);
  message->AllocatePack();
  EXPECT_EQ(static_cast<std::size_t>(message->GetPackSize()), bytes.size());
  std::memcpy(message->GetPackBodyPointer(), bytes.data() + header->GetPackSize(),
              static_cast<std::size_t>(message->GetPackBodySize()));
  EXPECT_TRUE(message->Unpack(1) & igtl::MessageHeader::UNPACK_BODY);
  return message;
}

template <typename Pointer>
Bytes packed(const Pointer& message) {
  message->Pack();
  const auto* bytes = static_cast<const std::byte*>(message->GetPackPointer());
  return {bytes, bytes + message->GetPackSize()};
}

void set_matrix(const glm::dmat4& pose, igtl::Matrix4x4& matrix) {
  for (int c = 0; c < 4; ++c)
    for (int r = 0; r < 4; ++r) matrix[r][c] = static_cast<float>(pose[c][r] * (c == 3 && r < 3 ? 1e3 : 1.0));
}

glm::dmat4 pose_of(const igtl::Matrix4x4& matrix) {
  glm::dmat4 pose(1.0);
  for (int c = 0; c < 4; ++c)
    for (int r = 0; r < 3; ++r) pose[c][r] = static_cast<double>(matrix[r][c]) * (c == 3 ? 1e-3 : 1.0);
  return pose;
}

Bytes transform_by_library(const char* name, const glm::dmat4& pose) {
  auto message = igtl::TransformMessage::New();
  igtl::Matrix4x4 matrix;
  set_matrix(pose, matrix);
  message->SetDeviceName(name);
  message->SetMatrix(matrix);
  return packed(message);
}

TEST(IgtlWire, TheLibraryReadsOurTransform) {
  Bytes bytes;
  append_transform(bytes, {"Probe", some_pose()}, 1234567890.25);
  const auto message = unpacked<igtl::TransformMessage>(bytes);
  igtl::Matrix4x4 matrix;
  message->GetMatrix(matrix);
  EXPECT_STREQ(message->GetDeviceName(), "Probe");
  EXPECT_LT(difference(pose_of(matrix), some_pose()), 1e-7);
  unsigned int seconds = 0, fraction = 0;
  message->GetTimeStamp(&seconds, &fraction);
  EXPECT_EQ(seconds, 1234567890u);
  EXPECT_EQ(fraction, 1u << 30);
}

TEST(IgtlWire, TheLibraryReadsOurTrackingDataAndSensors) {
  Bytes bytes;
  const std::vector<NamedPose> tools = {{"left", glm::dmat4(1.0)}, {"an instrument of a long name", some_pose()}};
  append_tdata(bytes, "Instruments", tools, 1.0);
  const auto message = unpacked<igtl::TrackingDataMessage>(bytes);
  ASSERT_EQ(message->GetNumberOfTrackingDataElements(), 2);
  igtl::TrackingDataElement::Pointer element;
  message->GetTrackingDataElement(1, element);
  igtl::Matrix4x4 matrix;
  element->GetMatrix(matrix);
  EXPECT_LT(difference(pose_of(matrix), some_pose()), 1e-7);
  EXPECT_STREQ(element->GetName(), "an instrument of a ");
  bytes.clear();
  const std::vector<double> values = {0.5, -1.25e-3, 7.0};
  append_sensor(bytes, "Force", values, IgtlUnit::Newton, 1.0);
  const auto sensor = unpacked<igtl::SensorMessage>(bytes);
  ASSERT_EQ(sensor->GetLength(), 3u);
  for (unsigned int k = 0; k < 3; ++k) EXPECT_EQ(sensor->GetValue(k), values[k]);
  auto newton = igtl::Unit::New();
  newton->Append(igtl::Unit::SI_DERIVED_NEWTON, 1);
  EXPECT_EQ(sensor->GetUnit(), newton->Pack());
  bytes.clear();
  append_sensor(bytes, "Torque", values, IgtlUnit::NewtonMetre, 1.0);
  igtl_unit_data newton_metre;
  igtl_unit_unpack(unpacked<igtl::SensorMessage>(bytes)->GetUnit(), &newton_metre);
  EXPECT_EQ(newton_metre.unit[0], IGTL_UNIT_SI_DERIVED_NEWTON);
  EXPECT_EQ(newton_metre.unit[1], IGTL_UNIT_SI_BASE_METER);
  for (int k = 0; k < 6; ++k) EXPECT_EQ(newton_metre.exp[k], k < 2 ? 1 : 0);
}

TEST(IgtlWire, WeReadTheLibrarysMessages) {
  Bytes stream = transform_by_library("Probe", some_pose());
  auto tracking = igtl::TrackingDataMessage::New();
  tracking->SetDeviceName("Tracker");
  for (const char* name : {"A", "B"}) {
    auto element = igtl::TrackingDataElement::New();
    igtl::Matrix4x4 matrix;
    set_matrix(some_pose(), matrix);
    element->SetName(name);
    element->SetType(igtl::TrackingDataElement::TYPE_6D);
    element->SetMatrix(matrix);
    tracking->AddTrackingDataElement(element);
  }
  const Bytes more = packed(tracking);
  stream.insert(stream.end(), more.begin(), more.end());
  auto sensor = igtl::SensorMessage::New();
  sensor->SetDeviceName("Probe");
  sensor->SetLength(2);
  sensor->SetValue(0u, 0.25);
  sensor->SetValue(1u, 1.0);
  const Bytes last = packed(sensor);
  stream.insert(stream.end(), last.begin(), last.end());

  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{59}, stream.size()}) {
    Heard heard;
    IgtlReader reader;
    for (std::size_t at = 0; at < stream.size(); at += piece)
      ASSERT_TRUE(reader.take(std::span(stream).subspan(at, std::min(piece, stream.size() - at)), heard.listener()));
    ASSERT_EQ(heard.poses.size(), 3u);
    EXPECT_EQ(heard.poses[0].name, "Probe");
    EXPECT_EQ(heard.poses[1].name, "A");
    EXPECT_EQ(heard.poses[2].name, "B");
    for (const NamedPose& pose : heard.poses) EXPECT_LT(difference(pose.pose, some_pose()), 1e-7);
    ASSERT_EQ(heard.sensors.size(), 1u);
    EXPECT_EQ(heard.sensors[0].second, (std::vector<double>{0.25, 1.0}));
    EXPECT_EQ(reader.refused(), 0u);
  }
}

// Unknown message types, long or empty, are skipped.
TEST(IgtlWire, OtherMessageTypesAreSkipped) {
  auto status = igtl::StatusMessage::New();
  status->SetDeviceName("x");
  status->SetCode(1);
  status->SetStatusString(std::string(100000, 'a').c_str());
  Bytes stream = packed(status);
  const Bytes pose = transform_by_library("Probe", some_pose());
  stream.insert(stream.end(), pose.begin(), pose.end());
  Heard heard;
  IgtlReader reader;
  EXPECT_TRUE(reader.take(stream, heard.listener()));
  EXPECT_EQ(heard.poses.size(), 1u);
  EXPECT_EQ(reader.refused(), 0u);
}

TEST(IgtlWire, OnlyMessagesWithWrongChecksumsOrNumbersAreRefused) {
  Heard heard;
  IgtlReader reader;
  const Bytes good = transform_by_library("Probe", some_pose());
  for (std::size_t at = 58; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= std::byte{0x10};
    EXPECT_TRUE(reader.take(bad, heard.listener()));
  }
  EXPECT_EQ(heard.poses.size(), 0u);
  EXPECT_EQ(reader.refused(), 48u);
  glm::dmat4 pose = some_pose();
  pose[3].y = std::nan("");
  EXPECT_TRUE(reader.take(transform_by_library("Probe", pose), heard.listener()));
  EXPECT_EQ(heard.poses.size(), 0u);
  EXPECT_EQ(reader.refused(), 49u);
  EXPECT_TRUE(reader.take(good, heard.listener()));
  EXPECT_EQ(heard.poses.size(), 1u);
}

void put_number(Bytes& out, std::size_t size, std::uint64_t value) {
  for (std::size_t k = size; k-- > 0;) out.push_back(static_cast<std::byte>(value >> (8 * k)));
}

struct Metadata {
  std::string key, value;
};

// The lengths that an extended header claims; by default the true ones.
struct Claims {
  std::uint64_t extended = 12, heads = 0, texts = 0;
};

// Returns the same message in header version 2, as the standard describes it (Documents/Protocol/header.md of
// OpenIGTLink) and its library sends it: an extended header of 12 bytes, the content, a count and a head for each text
// of the metadata, and the texts. `more`: bytes that a later version might append to the extended header.
Bytes version_two(const Bytes& plain, const std::vector<Metadata>& metadata, std::size_t more = 0,
                  const std::function<void(Claims&)>& lie = {}) {
  Bytes heads, texts, body;
  put_number(heads, 2, metadata.size());
  for (const Metadata& each : metadata) {
    put_number(heads, 2, each.key.size());
    put_number(heads, 2, 3);  // US-ASCII
    put_number(heads, 4, each.value.size());
    for (const char c : each.key + each.value) texts.push_back(static_cast<std::byte>(c));
  }
  Claims claims{12 + more, heads.size(), texts.size()};
  if (lie) lie(claims);
  put_number(body, 2, claims.extended);
  put_number(body, 2, claims.heads);
  put_number(body, 4, claims.texts);
  put_number(body, 4, 77);  // number of the message
  body.resize(body.size() + more);
  body.insert(body.end(), plain.begin() + 58, plain.end());
  body.insert(body.end(), heads.begin(), heads.end());
  body.insert(body.end(), texts.begin(), texts.end());
  Bytes message(plain.begin(), plain.begin() + 42);
  message[1] = std::byte{2};
  put_number(message, 8, body.size());
  put_number(message, 8, crc64(reinterpret_cast<unsigned char*>(body.data()), static_cast<int>(body.size()), 0));
  message.insert(message.end(), body.begin(), body.end());
  return message;
}

const std::vector<Metadata> kMetadata{{"MRMLNodeName", "LinearTransform"}};

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes tdata() {
  Bytes bytes;
  append_tdata(bytes, "Tracker", std::vector<NamedPose>{{"A", some_pose()}, {"B", some_pose()}}, 1.0);
  return bytes;
}

Bytes sensor() {
  Bytes bytes;
  append_sensor(bytes, "Probe", std::vector<double>{0.25, 1.0}, IgtlUnit::None, 1.0);
  return bytes;
}

// Programs with version 3 of the protocol (3D Slicer, PLUS) send header version 2, with and without metadata.
TEST(IgtlWire, ReadsHeaderVersionTwo) {
  const Bytes plain = transform_by_library("Probe", some_pose());
  EXPECT_EQ(version_two(plain, {}).size(), 120u);
  EXPECT_EQ(version_two(plain, kMetadata).size(), 155u);
  for (const std::vector<Metadata>& metadata : {std::vector<Metadata>{}, kMetadata}) {
    Heard heard;
    IgtlReader reader;
    EXPECT_TRUE(reader.take(version_two(plain, metadata), heard.listener()));
    EXPECT_TRUE(reader.take(version_two(plain, metadata, 2), heard.listener()));
    EXPECT_TRUE(reader.take(version_two(tdata(), metadata), heard.listener()));
    EXPECT_TRUE(reader.take(version_two(sensor(), metadata), heard.listener()));
    EXPECT_TRUE(reader.take(plain, heard.listener())) << "both versions in one stream";
    ASSERT_EQ(heard.poses.size(), 5u);
    for (const NamedPose& pose : heard.poses) EXPECT_LT(difference(pose.pose, some_pose()), 1e-7);
    EXPECT_EQ(heard.poses[3].name, "B");
    ASSERT_EQ(heard.sensors.size(), 1u);
    EXPECT_EQ(heard.sensors[0].second, (std::vector<double>{0.25, 1.0}));
    EXPECT_EQ(reader.refused(), 0u);
  }
}

// The network splits a stream anywhere: within a header, an extended header, the content or the metadata. Messages of
// other types come first and between.
TEST(IgtlWire, AnySplitOfAStreamGivesTheSamePoses) {
  auto status = igtl::StatusMessage::New();
  status->SetDeviceName("Slicer");
  status->SetCode(1);
  status->SetStatusString("ready");
  const Bytes first = packed(status), plain = transform_by_library("Probe", some_pose());
  const Bytes stream = joined({first, version_two(plain, kMetadata), version_two(first, kMetadata), plain,
                               version_two(tdata(), {}), version_two(sensor(), kMetadata)});
  const auto expect_all = [&](const std::vector<std::size_t>& cuts) {
    Heard heard;
    IgtlReader reader;
    std::size_t at = 0;
    for (const std::size_t cut : cuts) {
      ASSERT_TRUE(reader.take(std::span(stream).subspan(at, cut - at), heard.listener()));
      at = cut;
    }
    ASSERT_EQ(heard.poses.size(), 4u) << "cut at " << cuts.front();
    ASSERT_EQ(heard.sensors.size(), 1u);
    ASSERT_EQ(reader.refused(), 0u);
  };
  std::vector<std::size_t> every;
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    expect_all({cut, stream.size()});
    every.push_back(cut);
  }
  every.push_back(stream.size());
  expect_all(every);
}

// A user's message type may have any letters.
TEST(IgtlWire, TypesOfUsersAreSkippedByTheirSize) {
  const Bytes plain = transform_by_library("Probe", some_pose());
  for (const std::string type : {"MyType", "us-param.v2", "RTS_COMMAND", "ImageMeta 01", "VIDEO"}) {
    Bytes other(58 + 1000, std::byte{0x55});
    std::copy(plain.begin(), plain.begin() + 42, other.begin());
    for (std::size_t k = 0; k < 12; ++k) other[2 + k] = k < type.size() ? std::byte(type[k]) : std::byte{0};
    Bytes size;
    put_number(size, 8, 1000);
    std::copy(size.begin(), size.end(), other.begin() + 42);
    Heard heard;
    IgtlReader reader;
    EXPECT_TRUE(reader.take(joined({other, plain}), heard.listener())) << type;
    EXPECT_EQ(heard.poses.size(), 1u) << type;
    EXPECT_EQ(reader.refused(), 0u);
  }
}

TEST(IgtlWire, InconsistentLengthsAreRefused) {
  const Bytes plain = transform_by_library("Probe", some_pose());
  const std::vector<std::function<void(Claims&)>> lies = {[](Claims& c) { c.extended = 0; },
                                                          [](Claims& c) { c.extended = 11; },
                                                          [](Claims& c) { c.extended = 0xffff; },
                                                          [](Claims& c) { c.heads = 0xffff; },
                                                          [](Claims& c) { c.heads = 0; },
                                                          [](Claims& c) { c.texts = 0xffffffff; },
                                                          [](Claims& c) { c.texts = 0xffffffff - 21; },
                                                          [](Claims& c) { c.texts += 1; },
                                                          [](Claims& c) { c.extended += 48; }};
  for (const auto& lie : lies) {
    Heard heard;
    IgtlReader reader;
    EXPECT_TRUE(reader.take(version_two(plain, kMetadata, 0, lie), heard.listener()));
    EXPECT_EQ(heard.poses.size(), 0u);
    EXPECT_EQ(reader.refused(), 1u);
    EXPECT_TRUE(reader.take(version_two(plain, kMetadata), heard.listener())) << "the next message is read";
    EXPECT_EQ(heard.poses.size(), 1u);
  }
  // A body without room for an extended header.
  for (std::size_t size = 0; size < 12; ++size) {
    Bytes message = plain;
    message[1] = std::byte{2};
    message.resize(58 + size, std::byte{0});
    Bytes tail;
    put_number(tail, 8, size);
    put_number(tail, 8, crc64(reinterpret_cast<unsigned char*>(message.data() + 58), static_cast<int>(size), 0));
    std::copy(tail.begin(), tail.end(), message.begin() + 42);
    Heard heard;
    IgtlReader reader;
    EXPECT_TRUE(reader.take(message, heard.listener()));
    EXPECT_EQ(heard.poses.size(), 0u);
    EXPECT_EQ(reader.refused(), 1u);
  }
}

// A pose of a mebibyte is not one: the stream ends instead of being skipped for hours.
TEST(IgtlWire, AnExcessiveSizeEndsTheStream) {
  const Bytes plain = transform_by_library("Probe", some_pose());
  for (const std::uint64_t size :
       {std::uint64_t{1} << 21, std::uint64_t{1} << 33, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    Bytes message = plain, field;
    put_number(field, 8, size);
    std::copy(field.begin(), field.end(), message.begin() + 42);
    Heard heard;
    IgtlReader reader;
    EXPECT_FALSE(reader.take(message, heard.listener())) << size;
    EXPECT_EQ(heard.poses.size(), 0u);
  }
}

// Streams that OpenIGTLink's own library (3.1) has sent: the first 2,000 bytes, the last message is cut.
struct PeerStream {
  const char* file;
  std::size_t message;  // bytes
};
constexpr PeerStream kPeerStreams[] = {{"transform-header1", 106}, {"transform-header1-meta", 106},
                                       {"transform-header2", 120}, {"transform-header2-meta", 155},
                                       {"tdata-header1", 128},     {"tdata-header1-meta", 128},
                                       {"tdata-header2", 142},     {"tdata-header2-meta", 152}};

std::optional<Bytes> stream_of(const PeerStream& peer) {
  const auto file = shared_file(std::string("peers/igtl/") + peer.file + ".bin");
  if (!file) return {};
  const std::string text = read_file(*file);
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(bytes, bytes + text.size());
}

TEST(IgtlPeers, EveryStreamOfTheLibraryIsRead) {
  for (const PeerStream& peer : kPeerStreams) {
    const auto stream = stream_of(peer);
    if (!stream) GTEST_SKIP() << "no shared test data";
    for (const std::size_t piece : {std::size_t{1}, std::size_t{57}, std::size_t{61}, stream->size()}) {
      Heard heard;
      IgtlReader reader;
      for (std::size_t at = 0; at < stream->size(); at += piece)
        ASSERT_TRUE(reader.take(std::span(*stream).subspan(at, std::min(piece, stream->size() - at)), heard.listener()))
            << peer.file;
      EXPECT_EQ(heard.poses.size(), stream->size() / peer.message) << peer.file;
      EXPECT_EQ(reader.refused(), 0u) << peer.file;
      for (std::size_t k = 0; k < heard.poses.size(); ++k) {
        EXPECT_EQ(heard.poses[k].name, "Probe");
        EXPECT_NEAR(heard.poses[k].pose[3].x, 0.030, 1e-7);
        EXPECT_NEAR(heard.poses[k].pose[3].z, 0.080 - 0.020 * std::sin(0.05 * static_cast<double>(k)), 1e-6) << k;
      }
    }
  }
}

// Any damage to such a stream refuses messages or ends it. Longest and shortest pieces, bytes and lengths change.
TEST(IgtlPeers, DamagedStreamsNeitherCrashNorHang) {
  const char* given = std::getenv("TROCAR_TEST_SEED");
  const auto seed = static_cast<std::uint32_t>(given ? std::strtoul(given, nullptr, 10) : 20261128);
  std::mt19937 random(seed);
  std::vector<Bytes> streams;
  for (const PeerStream& peer : kPeerStreams)
    if (auto stream = stream_of(peer)) streams.push_back(std::move(*stream));
  if (streams.empty()) {
    const Bytes plain = transform_by_library("Probe", some_pose());
    streams = {joined({plain, plain, plain}),
               joined({version_two(plain, kMetadata), version_two(tdata(), {}), version_two(sensor(), kMetadata)})};
  }
  int ended = 0;
  std::uint64_t refused = 0, read = 0;
  constexpr int kRounds = 600;
  for (int round = 0; round < kRounds; ++round) {
    Bytes bytes = streams[static_cast<std::size_t>(round) % streams.size()];
    for (unsigned change = random() % 4 + 1; change > 0; --change) {
      const std::size_t at = random() % bytes.size(), count = std::min<std::size_t>(random() % 64, bytes.size() - at);
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<std::byte>(random());
          break;
        case 1:  // lost bytes
          if (count < bytes.size()) bytes.erase(from, from + static_cast<std::ptrdiff_t>(count));
          break;
        case 2:
          bytes.insert(from, count, static_cast<std::byte>(random()));
          break;
        default:  // lengths and numbers at their limits
          std::fill_n(from, std::min<std::size_t>(count, 8), random() % 2 ? std::byte{0xff} : std::byte{0x7f});
      }
    }
    Heard heard;
    IgtlReader reader;
    bool well = true;
    for (std::size_t at = 0; well && at < bytes.size();) {
      const std::size_t piece = std::min<std::size_t>(random() % 200 + 1, bytes.size() - at);
      well = reader.take(std::span(bytes).subspan(at, piece), heard.listener());
      at += piece;
    }
    ended += !well, refused += reader.refused(), read += heard.poses.size();
    for (const NamedPose& pose : heard.poses)
      for (int c = 0; c < 4; ++c) ASSERT_TRUE(std::isfinite(pose.pose[c].x + pose.pose[c].y)) << "seed " << seed;
  }
  std::printf("%d damaged streams (TROCAR_TEST_SEED=%u): %d ended, %llu messages refused, %llu poses read\n", kRounds,
              seed, ended, static_cast<unsigned long long>(refused), static_cast<unsigned long long>(read));
  EXPECT_GT(read, 0u);
  EXPECT_GT(refused, 0u);
}

TEST(IgtlWire, InvalidDataOnlyEndsTheStream) {
  constexpr unsigned kSeed = 97;
  std::mt19937 random(kSeed);
  const Bytes good = transform_by_library("Probe", some_pose());
  int ended = 0;
  for (int round = 0; round < 2000; ++round) {
    Heard heard;
    IgtlReader reader;
    Bytes bytes = good;
    if (round % 2 == 0) {
      bytes.resize(random() % 400);
      for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    } else {
      for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    if (!reader.take(bytes, heard.listener())) ++ended;
    for (const NamedPose& pose : heard.poses) EXPECT_TRUE(std::isfinite(pose.pose[3].x)) << "seed " << kSeed;
  }
  EXPECT_GT(ended, 500);
  IgtlReader reader;
  Heard heard;
  EXPECT_FALSE(
      reader.take(std::as_bytes(std::span("GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: someone/1.0\r\n\r\n")),
                  heard.listener()));
}

}  // namespace
}  // namespace trocar::igtl_wire_test
