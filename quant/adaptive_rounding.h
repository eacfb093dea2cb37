#pragma once

#include <cstdint>
#include <span>

#include "quant/format.h"
#include "quant/input_moments.h"

namespace tilewave::quant {

/// Rounds the weights of a layer so that its outputs change least: each output channel's integers
/// minimise e^T A e, with e = scale * q - w and A the mean of x x^T over the calibration images,
/// which is the mean square of the output's error. (With `about_mean` A is the covariance: the bias
/// takes the mean away.) By coordinate descent from the nearest integers: one integer after the
/// other takes the value that is best while the others stay, until none changes; the error never
/// rises. As Nair and Suggala, CDQuant, 2024 (arXiv 2406.17542); the objective is that of Nagel et
/// al. 2020 (AdaRound, arXiv 2004.10568) and Frantar et al. 2022 (arXiv 2208.11580).
///
/// weight: [out][k], scale: [out]; q: [out][k], the nearest integers, replaced. Channels belong to
/// the groups of `moments` in their order.
void round_adaptively(std::span<const float> weight, std::span<const float> scale,
                      const Format& format, const InputMoments& moments, bool about_mean,
                      std::span<std::int16_t> q);

}  // namespace tilewave::quant
