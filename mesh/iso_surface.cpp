#include "mesh/iso_surface.hpp"

#include <vtkFloatArray.h>
#include <vtkFlyingEdges3D.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>

#include <cmath>

#include "mesh/vtk_surface.hpp"

namespace trocar {
namespace {

// A node exactly on the surface would give triangles of zero area, so it is moved off by this.
constexpr float kOffSurface = 1e-3f;  // mm

void fill_image(const SampledField& field, vtkImageData* image) {
  std::vector<float> values = field.node_values();
  const glm::ivec3 size = field.size();
  image->SetDimensions(size.x, size.y, size.z);
  image->SetOrigin(&field.origin()[0]);
  image->SetSpacing(field.spacing(), field.spacing(), field.spacing());
  vtkNew<vtkFloatArray> scalars;
  scalars->SetNumberOfTuples(static_cast<vtkIdType>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    scalars->SetValue(static_cast<vtkIdType>(i), std::abs(values[i]) < kOffSurface ? kOffSurface : values[i]);
  image->GetPointData()->SetScalars(scalars);
}

// Returns six times the enclosed volume; its sign gives the orientation of the faces.
double volume6(const RawSurface& surface) {
  double sum = 0.0;
  for (const glm::uvec3& f : surface.faces)
    sum += glm::dot(surface.positions[f.x], glm::cross(surface.positions[f.y], surface.positions[f.z]));
  return sum;
}

}  // namespace

RawSurface iso_surface(const SampledField& field) {
  vtkNew<vtkImageData> image;
  fill_image(field, image);
  vtkNew<vtkFlyingEdges3D> filter;
  filter->SetInputData(image);
  filter->SetValue(0, 0.0);
  filter->ComputeNormalsOff();
  filter->ComputeScalarsOff();
  filter->Update();

  RawSurface surface;
  copy_from_vtk(*filter->GetOutput(), surface.positions, surface.faces);
  if (volume6(surface) < 0.0)
    for (glm::uvec3& f : surface.faces) std::swap(f.y, f.z);
  return surface;
}

}  // namespace trocar
