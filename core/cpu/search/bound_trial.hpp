// Which of two bounds is cheaper, found by trying both on the first prefixes. Only the time depends on it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "information/lane_model.hpp"
#include "interplay/tile_searcher.hpp"

namespace interplay {

// Polynomials are cheaper to compute. The rational bound is tighter where the classes are uneven, so that fewer tuples
// have to be scored exactly. Which bound wins depends on the data: prefixes take turns, and the clock decides.
class BoundTrial {
 public:
  // model: of two classes; null if there are more, which have no polynomials
  BoundTrial(const LaneModel* model, SearchProgress& progress)
      : progress_(progress),
        use_polynomial_(model && polynomial_is_sound(*model)),
        decided_(!use_polynomial_ || std::abs(model->share - 0.5f) < kEven) {}

  bool use_polynomial() const { return use_polynomial_; }

  // Before and after a prefix met n_lanes lanes.
  void start() {
    if (!decided_ && n_met_ >= kWarmUp) started_ = Clock::now();
  }
  void stop(int n_lanes) {
    if (decided_ || ++n_met_ <= kWarmUp) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    Tally& tally = tallies_[use_polynomial_];
    tally.seconds += std::min(seconds, kMostSeconds);
    tally.lanes += n_lanes;
    use_polynomial_ = !use_polynomial_;
    if (n_met_ < kWarmUp + kTrials) return;
    decided_ = true;
    const Tally &rational = tallies_[0], &polynomial = tallies_[1];
    use_polynomial_ = polynomial.seconds * rational.lanes * kClearly <= rational.seconds * polynomial.lanes;
    (use_polynomial_ ? progress_.polynomial_threads : progress_.rational_threads).fetch_add(1);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Tally {
    double seconds = 0, lanes = 0;
  };

  static constexpr float kEven = 0.05f;  // nearer to even classes than this, the rational bound is no tighter
  static constexpr int kWarmUp = 500;    // the first maxima are low, and few tuples fail
  static constexpr int kTrials = 200;
  static constexpr double kClearly = 0.95;  // the clock is not exact: polynomials, unless the other is clearly better
  static constexpr double kMostSeconds = 1e-4;  // more is not the bound's doing: the thread had to wait

  SearchProgress& progress_;
  bool use_polynomial_;
  bool decided_;
  int n_met_ = 0;
  Clock::time_point started_{};
  Tally tallies_[2];
};

}  // namespace interplay
