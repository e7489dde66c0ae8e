#include <glad/gl.h>

#include <algorithm>
#include <numeric>

#include "geometry/face_numbers.hpp"
#include "gpu_collision/compute.hpp"

namespace trocar::gl {
namespace {

Buffer new_buffer() {
  GLuint name = 0;
  glCreateBuffers(1, &name);
  return Buffer(name);
}

}  // namespace

void delete_texture(Name name) { glDeleteTextures(1, &name); }

std::size_t with_spare_room(std::size_t needed) { return needed + needed / 8; }

DeviceBuffer::DeviceBuffer() : buffer_(new_buffer()) {}

void DeviceBuffer::fill(const void* data, std::size_t bytes) {
  constexpr std::size_t kLeast = 16;  // an empty mesh also needs storage
  glNamedBufferData(name(), static_cast<GLsizeiptr>(std::max(bytes, kLeast)), nullptr, GL_DYNAMIC_DRAW);
  if (data != nullptr && bytes > 0) glNamedBufferSubData(name(), 0, static_cast<GLsizeiptr>(bytes), data);
  bytes_ = bytes;
}

void DeviceBuffer::write(const std::byte* data, std::size_t first, std::size_t bytes) {
  const std::size_t end = first + bytes;
  const bool grows = end > bytes_;
  if (grows) fill(nullptr, with_spare_room(end));
  if (grows) first = 0, bytes = end;
  if (bytes == 0) return;
  glNamedBufferSubData(name(), static_cast<GLintptr>(first), static_cast<GLsizeiptr>(bytes), data + first);
}

void MappedBuffer::allocate(std::size_t bytes, FaultWatch& fault) {
  constexpr GLbitfield kAccess = GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT | GL_MAP_READ_BIT | GL_MAP_WRITE_BIT;
  buffer_ = new_buffer();
  glNamedBufferStorage(name(), static_cast<GLsizeiptr>(bytes), nullptr, kAccess | GL_CLIENT_STORAGE_BIT);
  data_ = static_cast<std::byte*>(glMapNamedBufferRange(name(), 0, static_cast<GLsizeiptr>(bytes), kAccess));
  bytes_ = bytes;
  if (data_ == nullptr) fault.raise(TouchFault::OutOfMemory);
}

BufferTexture::BufferTexture(Enum format) : format_(format) {
  GLuint name = 0;
  glCreateTextures(GL_TEXTURE_BUFFER, 1, &name);
  texture_ = Texture(name);
}

void BufferTexture::show(Name buffer) { glTextureBuffer(name(), format_, buffer); }

void TexelBuffer::fill(const void* data, std::size_t bytes) {
  buffer_.fill(data, bytes);
  texture_.show(buffer_.name());
}

void TexelBuffer::write(const std::byte* data, std::size_t first, std::size_t bytes) {
  const std::size_t before = buffer_.bytes();
  buffer_.write(data, first, bytes);
  if (buffer_.bytes() != before) texture_.show(buffer_.name());
}

PositionBuffer::PositionBuffer() : positions_(GL_R32F) {}

void PositionBuffer::write(std::span<const glm::vec3> positions) {
  const std::size_t bytes = positions.size_bytes();
  if (bytes == 0) return;
  if (bytes > positions_.bytes()) positions_.fill(nullptr, with_spare_room(bytes));
  upload_.write(reinterpret_cast<const std::byte*>(positions.data()), 0, bytes);
  glCopyNamedBufferSubData(upload_.name(), positions_.buffer(), 0, 0, static_cast<GLsizeiptr>(bytes));
}

namespace {

GLuint unsigned_name(GLint name) { return static_cast<GLuint>(name); }

// Enums that read one binding of a kind of indexed buffers.
struct IndexedBinding {
  GLenum target, name, start, size;
};
constexpr IndexedBinding kStorage{GL_SHADER_STORAGE_BUFFER, GL_SHADER_STORAGE_BUFFER_BINDING,
                                  GL_SHADER_STORAGE_BUFFER_START, GL_SHADER_STORAGE_BUFFER_SIZE};
constexpr IndexedBinding kUniform{GL_UNIFORM_BUFFER, GL_UNIFORM_BUFFER_BINDING, GL_UNIFORM_BUFFER_START,
                                  GL_UNIFORM_BUFFER_SIZE};

template <class Block>
Block saved(const IndexedBinding& binding, GLuint index) {
  Block block;
  GLint64 start = 0, size = 0;
  glGetIntegeri_v(binding.name, index, &block.name);
  glGetInteger64i_v(binding.start, index, &start);
  glGetInteger64i_v(binding.size, index, &size);
  block.start = start;
  block.size = size;
  return block;
}

template <class Block>
void restore(const IndexedBinding& binding, GLuint index, const Block& block) {
  if (block.size > 0) {
    glBindBufferRange(binding.target, index, unsigned_name(block.name), block.start, block.size);
  } else {
    glBindBufferBase(binding.target, index, unsigned_name(block.name));
  }
}

}  // namespace

DispatchGuard::DispatchGuard() {
  glGetIntegerv(GL_CURRENT_PROGRAM, &program_);
  glGetIntegerv(GL_DISPATCH_INDIRECT_BUFFER_BINDING, &dispatch_indirect_);
  glGetIntegerv(GL_SHADER_STORAGE_BUFFER_BINDING, &storage_);
  glGetIntegerv(GL_UNIFORM_BUFFER_BINDING, &uniform_);
  glGetIntegerv(GL_ACTIVE_TEXTURE, &active_texture_);
  for (unsigned i = 0; i < kUnits; ++i) {
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glGetIntegerv(GL_TEXTURE_BINDING_BUFFER, &textures_[i]);
  }
  glActiveTexture(static_cast<GLenum>(active_texture_));
  for (unsigned i = 0; i < kBlocks; ++i) blocks_[i] = saved<Block>(kStorage, kFirstBlock + i);
  tools_ = saved<Block>(kUniform, kToolsBlock);
}

DispatchGuard::~DispatchGuard() {
  for (unsigned i = 0; i < kBlocks; ++i) restore(kStorage, kFirstBlock + i, blocks_[i]);
  restore(kUniform, kToolsBlock, tools_);
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, unsigned_name(storage_));
  glBindBuffer(GL_UNIFORM_BUFFER, unsigned_name(uniform_));
  for (unsigned i = 0; i < kUnits; ++i) {
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glBindTexture(GL_TEXTURE_BUFFER, unsigned_name(textures_[i]));
  }
  glActiveTexture(static_cast<GLenum>(active_texture_));
  glUseProgram(unsigned_name(program_));
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, unsigned_name(dispatch_indirect_));
}

}  // namespace trocar::gl

namespace trocar {
namespace {

// A change of more than this part of the faces costs as much as new blocks.
constexpr std::size_t kSmallPart = 4;  // 1 / part
// Unused entries of FaceBlocks::vertices are removed when they are more than this part of the used ones.
constexpr std::size_t kUnusedPart = 2;  // 1 / part
constexpr std::size_t kFewBlocks = 16, kFewVertices = 1024;

// Returns three times the centre of a face; only the order of the centres along an axis matters.
glm::vec3 centre_of(const MeshView& mesh, std::uint32_t face) {
  const glm::uvec3& corner = mesh.faces[face];
  return mesh.positions[corner.x] + mesh.positions[corner.y] + mesh.positions[corner.z];
}

void set_block_count(FaceBlocks& blocks, std::size_t count) {
  blocks.face_of_slot.resize(count * kBlockFaces);
  blocks.corners.resize(3 * count * kBlockFaces);
  blocks.filled.resize(count);
  blocks.ranges.resize(2 * count);
}

// Fills one block with faces, at most kBlockFaces; its vertices are appended.
void fill_block(const MeshView& mesh, std::span<const std::uint32_t> faces, std::uint32_t block, FaceBlocks& blocks) {
  const std::uint32_t first = block * kBlockFaces;
  blocks.filled[block] = static_cast<std::uint8_t>(faces.size());
  blocks.ranges[2 * block] = static_cast<std::uint32_t>(blocks.vertices.size());
  for (std::uint32_t i = 0; i < kBlockFaces; ++i) {
    const std::uint32_t face = faces[std::min<std::size_t>(i, faces.size() - 1)];
    blocks.face_of_slot[first + i] = face;
    if (i < faces.size()) blocks.slot_of_face[face] = first + i;
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t vertex = mesh.faces[face][corner];
      blocks.corners[3 * (first + i) + static_cast<std::uint32_t>(corner)] = vertex;
      if (blocks.listed_by[vertex] == block + 1) continue;
      blocks.listed_by[vertex] = block + 1;
      blocks.block_of[vertex] = block;
      blocks.vertices.push_back(vertex);
    }
  }
  blocks.ranges[2 * block + 1] = static_cast<std::uint32_t>(blocks.vertices.size());
  // A later change may fill this block again.
  for (std::uint32_t i = blocks.ranges[2 * block]; i < blocks.vertices.size(); ++i)
    blocks.listed_by[blocks.vertices[i]] = 0;
}

// Gives block `from` the number `to`, of a block without faces.
void move_block(FaceBlocks& blocks, std::uint32_t from, std::uint32_t to) {
  std::copy_n(blocks.face_of_slot.begin() + from * kBlockFaces, kBlockFaces,
              blocks.face_of_slot.begin() + to * kBlockFaces);
  std::copy_n(blocks.corners.begin() + 3 * from * kBlockFaces, 3 * kBlockFaces,
              blocks.corners.begin() + 3 * to * kBlockFaces);
  blocks.filled[to] = blocks.filled[from];
  for (std::uint32_t i = 0; i < blocks.filled[to]; ++i)
    blocks.slot_of_face[blocks.face_of_slot[to * kBlockFaces + i]] = to * kBlockFaces + i;
  blocks.ranges[2 * to] = blocks.ranges[2 * from], blocks.ranges[2 * to + 1] = blocks.ranges[2 * from + 1];
  for (std::uint32_t i = blocks.ranges[2 * to]; i < blocks.ranges[2 * to + 1]; ++i)
    blocks.block_of[blocks.vertices[i]] = to;
}

std::size_t used_vertices(const FaceBlocks& blocks) {
  std::size_t used = 0;
  for (std::uint32_t b = 0; b < blocks.block_count(); ++b) used += blocks.ranges[2 * b + 1] - blocks.ranges[2 * b];
  return used;
}

}  // namespace

FaceBlocks make_face_blocks(const MeshView& mesh) {
  FaceBlocks blocks;
  const auto face_count = static_cast<std::uint32_t>(mesh.faces.size());
  std::vector<glm::vec3> centres(face_count);
  for (std::uint32_t face = 0; face < face_count; ++face) centres[face] = centre_of(mesh, face);
  std::vector<std::uint32_t> order(face_count);
  std::iota(order.begin(), order.end(), 0u);
  order_in_runs(order, centres, kBlockFaces);
  set_block_count(blocks, (face_count + kBlockFaces - 1) / kBlockFaces);
  blocks.slot_of_face.resize(face_count);
  blocks.block_of.assign(mesh.positions.size(), kNoBlock);
  blocks.listed_by.assign(mesh.positions.size(), 0);
  for (std::uint32_t b = 0; b < blocks.block_count(); ++b) {
    const std::uint32_t first = b * kBlockFaces;
    fill_block(mesh, std::span(order).subspan(first, std::min(kBlockFaces, face_count - first)), b, blocks);
  }
  return blocks;
}

bool BlockChange::apply(const MeshView& mesh, std::span<const FaceId> removed, FaceBlocks& blocks) {
  const std::size_t before = blocks.slot_of_face.size(), kept = before - removed.size();
  if ((mesh.faces.size() - kept + removed.size()) * kSmallPart > before) return false;
  blocks.block_of.resize(mesh.positions.size(), kNoBlock);
  blocks.listed_by.resize(mesh.positions.size(), 0);
  first_vertex_ = static_cast<std::uint32_t>(blocks.vertices.size());
  mark_blocks(mesh, removed, blocks);
  renumber_faces(removed, blocks);
  blocks.slot_of_face.resize(mesh.faces.size());
  for (auto face = static_cast<std::uint32_t>(kept); face < mesh.faces.size(); ++face) faces_.push_back(face);
  divide(mesh, blocks);
  const std::size_t used = used_vertices(blocks);
  if (blocks.vertices.size() > used + used / kUnusedPart + kFewVertices) {
    vertices_.clear();
    for (std::uint32_t b = 0; b < blocks.block_count(); ++b) {
      const auto begin = blocks.vertices.begin() + blocks.ranges[2 * b],
                 end = blocks.vertices.begin() + blocks.ranges[2 * b + 1];
      blocks.ranges[2 * b] = static_cast<std::uint32_t>(vertices_.size());
      vertices_.insert(vertices_.end(), begin, end);
      blocks.ranges[2 * b + 1] = static_cast<std::uint32_t>(vertices_.size());
    }
    std::swap(vertices_, blocks.vertices);
    first_vertex_ = 0;
  }
  const std::size_t needed = (mesh.faces.size() + kBlockFaces - 1) / kBlockFaces;
  return blocks.block_count() <= needed + needed / 2 + kFewBlocks;
}

void BlockChange::mark(std::uint32_t block) {
  if (marked_[block]) return;
  marked_[block] = 1;
  blocks_.push_back(block);
}

// Marks short blocks that share a vertex with a marked one, so that short blocks do not add up. The block that is
// filled last is the short one, and block_of refers to it.
void BlockChange::mark_short_neighbours(const FaceBlocks& blocks) {
  const std::size_t marked = blocks_.size();
  for (std::size_t k = 0; k < marked; ++k)
    for (std::uint32_t i = blocks.ranges[2 * blocks_[k]]; i < blocks.ranges[2 * blocks_[k] + 1]; ++i) {
      const std::uint32_t block = blocks.block_of[blocks.vertices[i]];
      if (block < blocks.block_count() && 2 * blocks.filled[block] < kBlockFaces) mark(block);
    }
}

// Marks the blocks of removed faces, and one block beside each new face.
void BlockChange::mark_blocks(const MeshView& mesh, std::span<const FaceId> removed, const FaceBlocks& blocks) {
  marked_.assign(blocks.block_count(), 0);
  blocks_.clear();
  for (const FaceId face : removed) mark(blocks.slot_of_face[index(face)] / kBlockFaces);
  for (std::size_t face = blocks.slot_of_face.size() - removed.size(); face < mesh.faces.size(); ++face)
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t block = blocks.block_of[mesh.faces[face][corner]];
      if (block >= blocks.block_count()) continue;
      mark(block);
      break;
    }
  mark_short_neighbours(blocks);
}

// Gives all remaining faces their new numbers, and collects those of the marked blocks.
void BlockChange::renumber_faces(std::span<const FaceId> removed, FaceBlocks& blocks) {
  renumber(removed, blocks.slot_of_face.size(), after_);
  blocks.slot_of_face.resize(after_.size() - removed.size());
  for (std::uint32_t slot = 0; slot < blocks.face_of_slot.size(); ++slot) {
    std::uint32_t& face = blocks.face_of_slot[slot];
    face = after_[face];
    const bool first = slot % kBlockFaces < blocks.filled[slot / kBlockFaces];
    if (first && face != kRemovedFace) blocks.slot_of_face[face] = slot;
  }
  faces_.clear();
  for (const std::uint32_t block : blocks_)
    for (std::uint32_t i = 0; i < blocks.filled[block]; ++i)
      if (const std::uint32_t face = blocks.face_of_slot[block * kBlockFaces + i]; face != kRemovedFace)
        faces_.push_back(face);
}

// Divides the collected faces among the marked blocks and, if necessary, new ones; blocks without faces are removed.
void BlockChange::divide(const MeshView& mesh, FaceBlocks& blocks) {
  centres_.clear(), order_.resize(faces_.size());
  for (const std::uint32_t face : faces_) centres_.push_back(centre_of(mesh, face));
  std::iota(order_.begin(), order_.end(), 0u);
  if (!order_.empty()) order_in_runs(order_, centres_, kBlockFaces);
  for (std::uint32_t& k : order_) k = faces_[k];
  const std::size_t needed = (order_.size() + kBlockFaces - 1) / kBlockFaces;
  std::uint32_t count = blocks.block_count();
  while (blocks_.size() < needed) blocks_.push_back(count++);
  set_block_count(blocks, count);
  std::sort(blocks_.begin(), blocks_.end());
  for (std::size_t b = 0; b < needed; ++b) {
    const std::size_t first = b * kBlockFaces;
    const std::size_t last = std::min(first + kBlockFaces, order_.size());
    fill_block(mesh, std::span(order_).subspan(first, last - first), blocks_[b], blocks);
  }
  // From the highest number down, so that the last block is never one of those still to be removed.
  for (std::size_t b = blocks_.size(); b-- > needed;) {
    const std::uint32_t last = blocks.block_count() - 1;
    if (blocks_[b] != last) move_block(blocks, last, blocks_[b]);
    set_block_count(blocks, last);
  }
  std::erase_if(blocks_, [&](std::uint32_t block) { return block >= blocks.block_count(); });
}

std::size_t BlockChange::memory_bytes() const {
  return held_bytes(blocks_, marked_, faces_, order_, centres_, after_, vertices_);
}

std::size_t memory_bytes(const FaceBlocks& b) {
  return held_bytes(b.face_of_slot, b.corners, b.filled, b.ranges, b.vertices, b.slot_of_face, b.block_of, b.listed_by);
}

}  // namespace trocar
