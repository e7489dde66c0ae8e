// Tests `trocar record --igtl-port` with a client made of libOpenIGTLink's classes: the client receives the same data
// that the recording contains afterwards.
#include <gtest/gtest.h>
#include <igtlClientSocket.h>
#include <igtlSensorMessage.h>
#include <igtlTransformMessage.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "sim/hdf5/recording.hpp"
#include "sim/link/igtl_wire.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using namespace std::chrono_literals;

struct HeardFrame {
  glm::dvec3 tip{0.0};        // mm
  double touched = -1.0;      // -1: not received
  std::vector<double> force;  // N
};

class LibraryClient {
 public:
  // Connects when the program listens; false: the program ended before.
  bool connect(int port, const std::atomic<bool>& ended) {
    const Wake never;
    while (!connect_to("127.0.0.1", port, 1000, never).open()) {
      if (ended) return false;
      std::this_thread::sleep_for(2ms);
    }
    return socket_->ConnectToServer("127.0.0.1", port) == 0;
  }

  // Receives until the program disconnects.
  std::vector<HeardFrame> listen() {
    socket_->SetReceiveTimeout(20000);
    std::vector<HeardFrame> frames;
    for (;;) {
      auto header = igtl::MessageHeader::New();
      header->InitPack();
      if (!receive(header->GetPackPointer(), static_cast<int>(header->GetPackSize()))) return frames;
      header->Unpack();
      const std::string kind = header->GetDeviceType(), name = header->GetDeviceName();
      if (kind == "TRANSFORM" && name == "probe") {
        const auto message = body<igtl::TransformMessage>(header);
        if (!message) return frames;
        igtl::Matrix4x4 matrix;
        message->GetMatrix(matrix);
        frames.push_back({{matrix[0][3], matrix[1][3], matrix[2][3]}, -1.0, {}});
      } else if (kind == "SENSOR" && !frames.empty()) {
        const auto message = body<igtl::SensorMessage>(header);
        if (!message) return frames;
        if (name == "Touched") frames.back().touched = message->GetValue(0);
        for (unsigned k = 0; name == "Force" && k < message->GetLength(); ++k)
          frames.back().force.push_back(message->GetValue(k));
      } else {
        socket_->Skip(static_cast<int>(header->GetBodySizeToRead()), 0);
      }
    }
  }

 private:
  bool receive(void* data, int size) { return socket_->Receive(data, size) == size; }
  template <typename Message>
  typename Message::Pointer body(const igtl::MessageHeader::Pointer& header) {
    auto message = Message::New();
    message->SetMessageHeader(header);
    message->AllocatePack();
    if (!receive(message->GetPackBodyPointer(), static_cast<int>(message->GetPackBodySize()))) return nullptr;
    return message->Unpack(1) & igtl::MessageHeader::UNPACK_BODY ? message : nullptr;
  }

  igtl::ClientSocket::Pointer socket_ = igtl::ClientSocket::New();
};

int free_port() { return port_of(listen_on(0, false)); }

// A tool presses the ball from above: the tip moves straight down by 22 mm within 700 frames.
void write_trajectory(const std::filesystem::path& file) {
  std::ofstream csv(file);
  csv << "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n";
  for (int k = 0; k < 700; ++k) csv << k / 60.0 << ",0,20,150,0,0," << 62.0 - k * 0.0314 << "\n";
}

TEST(IgtlRecord, AClientReceivesTheRecordedData) {
  TemporaryFolder folder;
  test::write_ball_scene(folder, {.tip = 60});
  write_trajectory(folder.path() / "t.csv");
  const int port = free_port();
  const std::string at = folder.path().string() + "/";
  const std::string command = std::string(TROCAR_PROGRAM) + " record " + at + "ball.toml --trajectory " + at +
                              "t.csv -o " + at + "s.h5 --backend scan --igtl-port " + std::to_string(port) + " >" + at +
                              "out 2>&1 </dev/null";
  std::atomic<bool> ended{false};
  int status = -1;
  std::thread program([&] {
    status = std::system(command.c_str());
    ended = true;
  });
  LibraryClient client;
  std::vector<HeardFrame> heard;
  if (client.connect(port, ended)) heard = client.listen();
  program.join();
  ASSERT_EQ(WEXITSTATUS(status), 0) << read_file(at + "out");

  const Recording recording(at + "s.h5");
  ASSERT_EQ(recording.frame_count(), 700u);
  OrganFrame organ;
  std::size_t whole = 0, touching = 0;
  double strongest = 0.0;
  for (const HeardFrame& frame : heard) {
    if (frame.touched < 0.0 || frame.force.size() != 3) continue;  // the program ended within this frame
    ++whole;
    const auto number = static_cast<std::size_t>(std::lround((62.0 - frame.tip.z) / 0.0314));
    ASSERT_LT(number, recording.frame_count());
    EXPECT_LT(glm::distance(frame.tip, 1e3 * recording.pose(number, 0).tip), 1e-3) << number;
    recording.read_frame(number, 0, organ);
    EXPECT_EQ(frame.touched, static_cast<double>(organ.touches.size())) << number;
    const glm::vec3 force = recording.force(number, 0);
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_EQ(frame.force[static_cast<std::size_t>(axis)], static_cast<double>(force[axis])) << number;
    touching += frame.touched > 0.0;
    strongest = std::max(strongest, static_cast<double>(glm::length(force)));
  }
  std::printf("%zu of 700 frames received, %zu of them with touches, %.2f N at most\n", whole, touching, strongest);
  EXPECT_GT(whole, 10u);
  EXPECT_GT(touching, 0u);
  EXPECT_GT(strongest, 0.01);
}

}  // namespace
}  // namespace trocar
