// The parts of the backend `compute`: buffers in GPU memory for the organ and in mapped host memory (OpenGL 4.4) for
// tools and answer, the state saved in a shared context, the faces in blocks of neighbours, and the backend's variants
// for the benchmark that compares them. The OpenGL context must be current. Units: metres. Tested in
// tests/gpu_collision/query_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "gpu_collision/gl_fault.hpp"
#include "gpu_collision/gl_objects.hpp"
#include "gpu_collision/queries.hpp"

namespace trocar::gl {

// Holds the buffers of `compute`: in GPU memory for the organ, in mapped host memory (OpenGL 4.4) for the tools and the
// answer. No binding changes here: every call names its buffer.

void delete_texture(Name name);
using Texture = Owned<delete_texture>;

// Returns a size with an eighth in reserve, in any unit: for data that grow with every cut.
std::size_t with_spare_room(std::size_t needed);

// A buffer in GPU memory. Its name stays the same for its lifetime.
class DeviceBuffer {
 public:
  DeviceBuffer();  // no storage
  // Gives the buffer new storage. `data` may be null.
  void fill(const void* data, std::size_t bytes);
  // Replaces a part of the storage. If it lies beyond the end, the buffer gets larger storage, with some in reserve,
  // and `data` from byte 0 on is copied there; so `data` must hold everything up to the end of the part.
  void write(const std::byte* data, std::size_t first, std::size_t bytes);
  Name name() const { return buffer_.name(); }  // of the OpenGL buffer
  std::size_t bytes() const { return bytes_; }  // with the reserve of write()

 private:
  Buffer buffer_;
  std::size_t bytes_ = 0;
};

// A buffer in host memory, mapped for its lifetime: the host and the GPU both access it without a copy.
class MappedBuffer {
 public:
  // Makes storage that replaces the former. Wait first for the submissions that use it. Raises OutOfMemory.
  void allocate(std::size_t bytes, FaultWatch& fault);
  std::byte* data() const { return data_; }     // nullptr before allocate() and after a fault
  Name name() const { return buffer_.name(); }  // changes in allocate(); 0 before
  std::size_t bytes() const { return bytes_; }  // of the last allocate(), also after a fault

 private:
  Buffer buffer_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// A texture whose values are those of a buffer. Mesa's software driver reads it several times faster than storage
// blocks (it gathers for a whole vector at once); GPUs read both equally fast.
class BufferTexture {
 public:
  explicit BufferTexture(Enum format);  // of a texel: GL_R32F or GL_R32UI
  // Shows this buffer; call again when it has new storage.
  void show(Name buffer);
  Name name() const { return texture_.name(); }  // of the OpenGL texture

 private:
  Enum format_;
  Texture texture_;
};

// A device buffer and the texture of its values.
class TexelBuffer {
 public:
  explicit TexelBuffer(Enum format) : texture_(format) { fill(nullptr, 0); }  // as BufferTexture; empty
  void fill(const void* data, std::size_t bytes);                             // as DeviceBuffer
  void write(const std::byte* data, std::size_t first, std::size_t bytes);    // as DeviceBuffer
  Name buffer() const { return buffer_.name(); }                              // its OpenGL name
  Name texture() const { return texture_.name(); }                            // its OpenGL name
  std::size_t bytes() const { return buffer_.bytes(); }                       // of the values, as DeviceBuffer

 private:
  DeviceBuffer buffer_;
  BufferTexture texture_;
};

// The positions of an organ in GPU memory. New ones go through a second buffer, which no shader reads: NVIDIA's driver
// (580) uploads into such a buffer two to three times faster (docs/results.md).
class PositionBuffer {
 public:
  PositionBuffer();                                      // no positions
  void write(std::span<const glm::vec3> positions);      // [vertex] m; storage grows, never shrinks
  Name buffer() const { return positions_.buffer(); }    // [3 vertex + axis] floats, m
  Name texture() const { return positions_.texture(); }  // [3 vertex + axis] one texel, m
  std::size_t bytes() const { return upload_.bytes() + positions_.bytes(); }  // of both buffers

 private:
  DeviceBuffer upload_;
  TexelBuffer positions_;  // floats
};

// Bindings of the shaders: texture units kFirstUnit .. kFirstUnit + 3, storage blocks kFirstBlock .. kFirstBlock + 3,
// and one uniform block. These are among the last ones that every context provides; few renderers use them.
constexpr unsigned kFirstUnit = 10, kUnits = 4;
constexpr unsigned kReplyBlock = 4, kWorkBlock = 5, kCountersBlock = 6, kRecordsBlock = 7;
constexpr unsigned kFirstBlock = kReplyBlock, kBlocks = 4;
constexpr unsigned kToolsBlock = 9;

// Saves the OpenGL state that `compute` changes in a shared context and restores it at the end of a scope, so that a
// renderer is not affected.
class DispatchGuard {
 public:
  DispatchGuard();  // of the current context
  ~DispatchGuard();
  DispatchGuard(const DispatchGuard&) = delete;
  DispatchGuard& operator=(const DispatchGuard&) = delete;

 private:
  struct Block {
    int name = 0;
    std::int64_t start = 0, size = 0;  // bytes; size 0: the whole buffer
  };
  int program_ = 0, dispatch_indirect_ = 0, storage_ = 0, uniform_ = 0, active_texture_ = 0;
  std::array<int, kUnits> textures_{};
  std::array<Block, kBlocks> blocks_;
  Block tools_;
};

}  // namespace trocar::gl

namespace trocar {

// Groups faces into blocks of neighbours, for backends that reject a whole block at once. New positions do not change
// the blocks: a block that spreads out costs time, not correctness. A change of faces changes them locally: blocks that
// lose or gain faces are divided again.

// Faces of a block: one per invocation of a workgroup.
constexpr std::uint32_t kBlockFaces = 64;

struct FaceBlocks {
  // Slots 64 b .. 64 b + 63 are block b. A block that is not full repeats its last face.
  std::vector<std::uint32_t> face_of_slot;  // [slot] face number
  std::vector<std::uint32_t> corners;       // [3 slot + corner] vertex number
  std::vector<std::uint8_t> filled;         // [block] number of its faces, 1 to 64
  std::vector<std::uint32_t> ranges;        // [2 block], [2 block + 1]: begin and end of its vertices in `vertices`
  // Vertex numbers, each once per block. After a change there are unused entries between the ranges.
  std::vector<std::uint32_t> vertices;
  std::vector<std::uint32_t> slot_of_face;  // [face] the first slot
  std::vector<std::uint32_t> block_of;      // [vertex] a block that listed it, perhaps before a change; kNoBlock: none
  std::vector<std::uint32_t> listed_by;     // [vertex] scratch buffer: the last block that listed it, + 1

  std::uint32_t block_count() const { return static_cast<std::uint32_t>(filled.size()); }  // none is empty
};
constexpr std::uint32_t kNoBlock = 0xffff'ffffu;

FaceBlocks make_face_blocks(const MeshView& mesh);  // positions [vertex] m, faces [face]; allocates

// Applies a change as TouchQuery::change_faces() defines it, and tells which parts of the arrays are new.
class BlockChange {
 public:
  // `removed`: [removed face]. Returns false when the blocks must be made again instead: when the change is large or
  // too many blocks are short.
  bool apply(const MeshView& mesh, std::span<const FaceId> removed, FaceBlocks& blocks);

  // The results of apply(). Blocks with new slots, ascending; the first of `vertices` that is new.
  std::span<const std::uint32_t> changed() const { return blocks_; }  // [changed block]
  std::uint32_t first_vertex() const { return first_vertex_; }        // 0: all are new
  std::size_t memory_bytes() const;                                   // of its arrays

 private:
  void mark(std::uint32_t block);
  void mark_short_neighbours(const FaceBlocks& blocks);
  void mark_blocks(const MeshView& mesh, std::span<const FaceId> removed, const FaceBlocks& blocks);
  void renumber_faces(std::span<const FaceId> removed, FaceBlocks& blocks);
  void divide(const MeshView& mesh, FaceBlocks& blocks);

  std::uint32_t first_vertex_ = 0;
  std::vector<std::uint32_t> blocks_;
  // Scratch buffers.
  std::vector<char> marked_;                  // [block]
  std::vector<std::uint32_t> faces_, order_;  // of marked blocks, and new ones
  std::vector<glm::vec3> centres_;            // [faces_]
  std::vector<std::uint32_t> after_, vertices_;
};

std::size_t memory_bytes(const FaceBlocks& blocks);  // of its arrays

struct ComputeTuning {
  bool cull_blocks = true;   // a first pass rejects blocks of faces by their boxes; off: all faces are tested at once
  bool timer_query = false;  // gpu_ms by the GPU's clock; off: 0
};

// Returns the best variant for the hardware in `info` (docs/results.md, "On a GPU").
ComputeTuning best_compute_tuning(const GlInfo& info);

// Throws InputError below OpenGL 4.5, RunError when the driver refuses a shader. The context must outlive the query.
std::unique_ptr<TouchQuery> make_compute_query(GlContext& context, const ComputeTuning& tuning);

}  // namespace trocar
