#include "sim/hdf5/surface_reader.hpp"

#include <algorithm>

namespace trocar {
namespace {

std::vector<Embedding> read_embedding(const H5Table& node_table, const H5Table& weight_table, std::uint64_t rows) {
  const auto nodes = node_table.read_rows<std::uint32_t>(0, rows);
  const auto weights = weight_table.read_rows<float>(0, rows);
  std::vector<Embedding> embedding(rows);
  for (std::size_t k = 0; k < rows; ++k) {
    std::copy_n(&nodes[k * 8], 8, embedding[k].node);
    std::copy_n(&weights[k * 8], 8, embedding[k].weight);
  }
  return embedding;
}

}  // namespace

SurfaceHistory read_surface(const std::vector<H5Table>& tables, const RowCounts& rows) {
  const auto faces = rows[RowOf::Face], vertices = rows[RowOf::Vertex], removed = rows[RowOf::Removed],
             carried = rows[RowOf::Carried];
  return {tables[kFaces].read_rows<glm::uvec3>(0, faces),
          tables[kFaceBorn].read_rows<std::uint32_t>(0, faces),
          tables[kRestPositions].read_rows<glm::vec3>(0, vertices),
          read_embedding(tables[kEmbeddingNode], tables[kEmbeddingWeight], vertices),
          tables[kVertexBorn].read_rows<std::uint32_t>(0, vertices),
          tables[kRemovedFace].read_rows<FaceId>(0, removed),
          tables[kRemovedFrame].read_rows<std::uint32_t>(0, removed),
          tables[kCarriedVertex].read_rows<std::uint32_t>(0, carried),
          read_embedding(tables[kCarriedNode], tables[kCarriedWeight], carried),
          tables[kCarriedFrame].read_rows<std::uint32_t>(0, carried)};
}

}  // namespace trocar
