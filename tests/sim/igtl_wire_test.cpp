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
#include <cstring>
#include <glm/gtc/matrix_transform.hpp>
#include <random>

namespace trocar {
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

// Tests a message of version 3, built by hand from the standard: an extended header of 12 bytes before the content,
// metadata after it.
TEST(IgtlWire, ReadsTheContentOfVersionThree) {
  const Bytes plain = transform_by_library("Probe", some_pose());
  const auto wrapped = [&](std::size_t front, std::uint8_t meta_said) {
    Bytes body(front);
    body[1] = static_cast<std::byte>(front);
    body[7] = static_cast<std::byte>(meta_said);
    body.insert(body.end(), plain.begin() + 58, plain.end());
    body.insert(body.end(), 5, std::byte{0x55});
    Bytes message(plain.begin(), plain.begin() + 58);
    message[1] = std::byte{3};
    message[49] = static_cast<std::byte>(body.size());
    auto* bytes = reinterpret_cast<unsigned char*>(body.data());
    const std::uint64_t sum = crc64(bytes, body.size(), 0);
    for (std::size_t k = 0; k < 8; ++k) message[50 + k] = static_cast<std::byte>(sum >> (56 - 8 * k));
    message.insert(message.end(), body.begin(), body.end());
    return message;
  };
  Heard heard;
  IgtlReader reader;
  EXPECT_TRUE(reader.take(wrapped(12, 5), heard.listener()));
  EXPECT_TRUE(reader.take(wrapped(14, 5), heard.listener()));
  ASSERT_EQ(heard.poses.size(), 2u);
  EXPECT_LT(difference(heard.poses[1].pose, some_pose()), 1e-7);
  EXPECT_TRUE(reader.take(wrapped(12, 200), heard.listener()));  // inconsistent lengths
  EXPECT_TRUE(reader.take(wrapped(12, 4), heard.listener()));
  EXPECT_EQ(heard.poses.size(), 2u);
  EXPECT_EQ(reader.refused(), 2u);
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
}  // namespace trocar
