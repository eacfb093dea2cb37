// The loops of row_kernels.h that the compiler vectorizes. Included once per build, inside that
// build's own namespace; plain loops over plain pointers, so that no function compiled for one
// processor can be linked into code that runs on another.

template <typename T>
void widen(const T* from, std::int32_t count, std::int16_t* to) {
  for (std::int32_t i = 0; i < count; ++i) to[i] = static_cast<std::int16_t>(from[i]);
}

inline void fill(std::int16_t value, std::int32_t count, std::int16_t* to) {
  for (std::int32_t i = 0; i < count; ++i) to[i] = value;
}

template <typename T>
void gather_run(const GatherPlan& plan, const GatherRun& run, const T* buffer, std::int64_t image,
                std::int32_t y, std::int32_t x, std::int16_t* out) {
  const std::int32_t in_y = y * plan.stride_height + run.dy;
  const std::int32_t in_x = x * plan.stride_width + run.dx;
  const std::int32_t last_x = in_x + (run.pixels - 1) * run.dx_step;
  if (in_y < 0 || in_y >= plan.height) {
    fill(plan.padding, run.pixels * run.length, out);
    return;
  }
  const T* row = buffer + run.base + (image * plan.height + in_y) * plan.width * run.pixel_elements;
  if (in_x >= 0 && last_x < plan.width && run.dx_step == 1 && run.length == run.pixel_elements) {
    widen(row + std::int64_t{in_x} * run.pixel_elements, run.pixels * run.length, out);
    return;
  }
  for (std::int32_t pixel = 0; pixel < run.pixels; ++pixel, out += run.length) {
    const std::int32_t at = in_x + pixel * run.dx_step;
    if (at < 0 || at >= plan.width) {
      fill(plan.padding, run.length, out);
    } else {
      widen(row + std::int64_t{at} * run.pixel_elements, run.length, out);
    }
  }
}

template <typename T>
void gather(const GatherPlan& plan, const T* buffer, std::int64_t first, std::int32_t rows,
            std::int16_t* out) {
  const std::int64_t pixels = std::int64_t{plan.output_height} * plan.output_width;
  std::int64_t image = first / pixels;
  auto y = static_cast<std::int32_t>(first % pixels / plan.output_width);
  auto x = static_cast<std::int32_t>(first % plan.output_width);
  for (std::int32_t row = 0; row < rows; ++row, out += plan.k_padded) {
    for (std::int32_t i = 0; i < plan.run_count; ++i) {
      gather_run(plan, plan.runs[i], buffer, image, y, x, out + plan.runs[i].k);
    }
    if (plan.k != plan.k_padded) out[plan.k] = 0;
    if (++x < plan.output_width) continue;
    x = 0;
    if (++y < plan.output_height) continue;
    y = 0;
    ++image;
  }
}

inline void column_max(const std::int32_t* const* rows, std::int32_t count, std::int32_t columns,
                       std::int32_t* out) {
  for (std::int32_t column = 0; column < columns; ++column) out[column] = rows[0][column];
  for (std::int32_t i = 1; i < count; ++i) {
    const std::int32_t* row = rows[i];
    for (std::int32_t column = 0; column < columns; ++column) {
      out[column] = out[column] > row[column] ? out[column] : row[column];
    }
  }
}

inline void requantize_float(const std::int32_t* sums, const float* multiplier,
                             std::int32_t columns, std::int32_t zero_point, std::int32_t low,
                             std::int32_t high, std::int32_t* out) {
  // Adding and subtracting 1.5 * 2^23 rounds half to even where |x| < 2^22; the values are clamped
  // to the activations' range (at most 17 bits wide) before, which rounding cannot leave.
  constexpr float kRound = 12582912.0F;
  const auto least = static_cast<float>(low - zero_point);
  const auto most = static_cast<float>(high - zero_point);
  for (std::int32_t column = 0; column < columns; ++column) {
    float real = static_cast<float>(sums[column]) * multiplier[column];
    real = real < least ? least : real;
    real = real > most ? most : real;
    out[column] = static_cast<std::int32_t>((real + kRound) - kRound) + zero_point;
  }
}
