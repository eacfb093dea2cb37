#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/units.h"
#include "kernels/cpu/tensor_plan.h"
#include "kernels/cpu/window.h"
#include "kernels/cuda/backend.h"

namespace tilewave::kernels::gpu {

/// As kernels take it. Throws InputError with `where` if a size passes 2^30.
WindowPlaces window_places(const WindowGeometry& geometry, const std::string& where);

/// The sizes of a product of one image, padded as matrix.h asks for.
struct ProductSizes {
  std::int64_t groups, rows, n, k;  ///< rows: output pixels of an image; n, k: of one group
  std::int64_t padded_n, padded_k;

  std::int64_t padded_rows(std::int64_t images) const {
    return ceil_div(images * rows, kRowMultiple) * kRowMultiple;
  }
};
/// Throws InputError with `where` if the matrices of one image have 2^31 values or more.
ProductSizes product_sizes(std::int64_t groups, std::int64_t rows, std::int64_t n, std::int64_t k,
                           std::int64_t vector, const std::string& where);

/// weight [groups * n][k], each value by `convert`, to [groups][padded_n][padded_k], zeros between.
template <typename T, typename Source, typename Convert>
std::vector<T> packed_weights(const std::vector<Source>& weight, const ProductSizes& sizes,
                              const Convert& convert) {
  std::vector<T> packed(static_cast<std::size_t>(sizes.groups * sizes.padded_n * sizes.padded_k));
  for (std::int64_t row = 0; row < sizes.groups * sizes.n; ++row) {
    const std::int64_t padded_row = row / sizes.n * sizes.padded_n + row % sizes.n;
    for (std::int64_t k = 0; k < sizes.k; ++k) {
      packed[static_cast<std::size_t>(padded_row * sizes.padded_k + k)] =
          convert(weight[static_cast<std::size_t>(row * sizes.k + k)]);
    }
  }
  return packed;
}

/// A convolution or dense layer (a window of one pixel over all the input's elements).
template <typename T>
struct ProductLayer {
  std::string where;  ///< the node, for errors
  GpuPrecision precision;
  WindowGeometry geometry;
  ProductSizes sizes;
  const T* in;
  const T* weights;  ///< packed, on the backend
  T padding;         ///< what places outside of the input hold
};

/// A network's tensors on a backend and the steps that fill them.
class Layers {
 public:
  Layers(Backend& backend, const std::vector<TensorUse>& uses, std::int64_t element_bytes,
         const Limits& limits);
  Layers(const Layers&) = delete;
  Layers& operator=(const Layers&) = delete;

  /// Images that `run` takes, at most.
  std::int64_t capacity() const { return capacity_; }
  template <typename T>
  T* tensor(std::size_t node) const {
    return static_cast<T*>(slots_[plan_.slot[node]]);
  }
  template <typename T>
  T* allocate(std::int64_t elements) {
    return static_cast<T*>(backend_.allocate(elements * std::int64_t{sizeof(T)}));
  }
  template <typename T>
  const T* upload(const std::vector<T>& values) {
    const auto size = static_cast<std::int64_t>(values.size());
    T* place = allocate<T>(size);
    backend_.upload(place, values.data(), size * std::int64_t{sizeof(T)});
    return place;
  }

  /// A kernel of so many elements per image.
  void add(const Work& work, std::int64_t elements);
  /// im2col, product and `epilogue` (a kernel that lacks only sums and places), in chunks of
  /// images that bound the memory between them.
  template <typename T, typename Epilogue>
  void add_product(const ProductLayer<T>& layer, const Epilogue& epilogue);
  /// Makes what the steps share. To be called once, after the last one was added.
  void finish();

  /// Hands the backend the work for so many images.
  void run(std::int64_t images) const;

 private:
  std::int64_t reserve_chunk(const ProductSizes& sizes, std::int64_t element_bytes);
  template <typename T, typename Epilogue>
  void run_product(const ProductLayer<T>& layer, const Epilogue& epilogue, std::int64_t first,
                   std::int64_t images) const;

  Backend& backend_;
  Limits limits_;
  TensorPlan plan_;
  std::int64_t capacity_ = 0;
  std::vector<void*> slots_;
  std::vector<std::function<void(std::int64_t images)>> steps_;
  Bytes rows_bytes_ = 0;
  Bytes sums_bytes_ = 0;
  void* rows_ = nullptr;  ///< im2col
  void* sums_ = nullptr;
};

template <typename T, typename Epilogue>
void Layers::add_product(const ProductLayer<T>& layer, const Epilogue& epilogue) {
  const std::int64_t chunk = reserve_chunk(layer.sizes, sizeof(T));
  steps_.push_back([this, layer, epilogue, chunk](std::int64_t images) {
    for (std::int64_t first = 0; first < images; first += chunk) {
      run_product(layer, epilogue, first, std::min(chunk, images - first));
    }
  });
}

template <typename T, typename Epilogue>
void Layers::run_product(const ProductLayer<T>& layer, const Epilogue& epilogue, std::int64_t first,
                         std::int64_t images) const {
  const ProductSizes& sizes = layer.sizes;
  const WindowGeometry& geometry = layer.geometry;
  const std::int64_t rows = images * sizes.rows;
  const std::int64_t padded_rows = sizes.padded_rows(images);
  const T* in = layer.in + first * geometry.in.elements();
  // Where pixels are rows as they lie in memory, nothing has to be gathered.
  const bool direct = geometry.is_pointwise() && sizes.groups == 1 && sizes.k == sizes.padded_k &&
                      rows == padded_rows;
  if (!direct) {
    const std::int64_t vectors = sizes.padded_k / kVector<T>;
    backend_.run(
        Im2col<T>{window_places(geometry, layer.where), in, static_cast<T*>(rows_),
                  static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(padded_rows),
                  static_cast<std::uint32_t>(geometry.in.channels / sizes.groups),
                  static_cast<std::uint32_t>(vectors), layer.padding},
        sizes.groups * rows * vectors);
  }
  backend_.multiply({layer.precision, layer.weights, direct ? in : rows_, sums_, sizes.groups,
                     padded_rows, sizes.padded_n, sizes.padded_k});
  Epilogue last = epilogue;
  last.sums = static_cast<decltype(last.sums)>(sums_);
  last.out += first * geometry.out.elements();
  last.places = {static_cast<std::uint32_t>(geometry.out.channels),
                 static_cast<std::uint32_t>(sizes.n), static_cast<std::uint32_t>(sizes.padded_n),
                 static_cast<std::uint32_t>(padded_rows)};
  backend_.run(last, images * geometry.out.elements());
}

}  // namespace tilewave::kernels::gpu
