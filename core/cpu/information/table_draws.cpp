#include "interplay/table_draws.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace interplay {
namespace {

// MT19937, seeded by an array (Matsumoto and Nishimura); doubles of 53 bits.
class Twister {
 public:
  explicit Twister(std::span<const std::uint32_t> seed) {
    state_[0] = 19650218;
    for (std::uint32_t i = 1; i < kSize; ++i) state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
    std::uint32_t i = 1;
    std::size_t j = 0;
    const auto next_place = [&] {
      if (++i < kSize) return;
      state_[0] = state_[kSize - 1];
      i = 1;
    };
    for (std::size_t k = std::max<std::size_t>(kSize, seed.size()); k > 0; --k) {
      state_[i] =
          (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525U)) + seed[j] + static_cast<std::uint32_t>(j);
      if (++j == seed.size()) j = 0;
      next_place();
    }
    for (std::uint32_t k = kSize - 1; k > 0; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941U)) - i;
      next_place();
    }
    state_[0] = 0x80000000U;
  }

  double uniform() {
    const std::uint32_t high = next() >> 5, low = next() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

 private:
  static constexpr std::uint32_t kSize = 624, kShift = 397;

  std::uint32_t next() {
    if (at_ == kSize) renew();
    std::uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
  }

  void renew() {
    const auto mix = [&](std::uint32_t i, std::uint32_t next, std::uint32_t far) {
      const std::uint32_t y = (state_[i] & 0x80000000U) | (state_[next] & 0x7fffffffU);
      state_[i] = state_[far] ^ (y >> 1) ^ ((0U - (y & 1)) & 0x9908b0dfU);
    };
    for (std::uint32_t i = 0; i < kSize - kShift; ++i) mix(i, i + 1, i + kShift);
    for (std::uint32_t i = kSize - kShift; i < kSize - 1; ++i) mix(i, i + 1, i + kShift - kSize);
    mix(kSize - 1, 0, kShift - 1);
    at_ = 0;
  }

  std::array<std::uint32_t, kSize> state_{};
  std::uint32_t at_ = kSize;
};

// A binomial distribution of NumPy's frozen streams: by inversion where few are expected, else BTPE (Kachitvichyanukul
// and Schmeiser, 1988). What follows from n and p alone is computed once.
class Binomial {
 public:
  Binomial(Index n, double chance) : n_(n), is_flipped_(chance > 0.5) {
    p_ = is_flipped_ ? 1.0 - chance : chance;
    q_ = 1.0 - p_;
    const double of_n = static_cast<double>(n);
    is_inverted_ = p_ * of_n <= 30.0;
    if (is_inverted_) {
      chances_.push_back(std::exp(of_n * std::log(q_)));
      const double mean = of_n * p_;
      bound_ = static_cast<Index>(std::min(of_n, mean + 10.0 * std::sqrt(mean * q_ + 1)));
      return;
    }
    r_ = std::min(p_, 1.0 - p_);
    q_ = 1.0 - r_;
    fm_ = of_n * r_ + r_;
    m_ = static_cast<Index>(std::floor(fm_));
    p1_ = std::floor(2.195 * std::sqrt(of_n * r_ * q_) - 4.6 * q_) + 0.5;
    xm_ = static_cast<double>(m_) + 0.5;
    xl_ = xm_ - p1_;
    xr_ = xm_ + p1_;
    c_ = 0.134 + 20.5 / (15.3 + static_cast<double>(m_));
    double a = (fm_ - xl_) / (fm_ - xl_ * r_);
    laml_ = a * (1.0 + a / 2.0);
    a = (xr_ - fm_) / (xr_ * q_);
    lamr_ = a * (1.0 + a / 2.0);
    p2_ = p1_ * (1.0 + 2.0 * c_);
    p3_ = p2_ + c_ / laml_;
    p4_ = p3_ + c_ / lamr_;
  }

  Index draw(Twister& random) {
    const Index found = is_inverted_ ? by_inversion(random) : by_rejection(random);
    return is_flipped_ ? n_ - found : found;
  }

 private:
  Index by_inversion(Twister& random) {
    Index x = 0;
    double u = random.uniform();
    while (u > chances_[static_cast<std::size_t>(x)]) {
      u -= chances_[static_cast<std::size_t>(x)];
      if (++x > bound_) {
        x = 0;
        u = random.uniform();
      } else if (static_cast<std::size_t>(x) == chances_.size()) {
        chances_.push_back((static_cast<double>(n_ - x + 1) * p_ * chances_.back()) / (static_cast<double>(x) * q_));
      }
    }
    return x;
  }

  Index by_rejection(Twister& random) const {
    const double n = static_cast<double>(n_), m = static_cast<double>(m_), nrq = n * r_ * q_;
    for (;;) {
      const double u = random.uniform() * p4_;
      double v = random.uniform();
      Index y;
      if (u <= p1_) return static_cast<Index>(std::floor(xm_ - p1_ * v + u));
      if (u <= p2_) {
        const double x = xl_ + (u - p1_) / c_;
        v = v * c_ + 1.0 - std::fabs(m - x + 0.5) / p1_;
        if (v > 1.0) continue;
        y = static_cast<Index>(std::floor(x));
      } else if (u <= p3_) {
        y = static_cast<Index>(std::floor(xl_ + std::log(v) / laml_));
        if (y < 0 || v == 0.0) continue;
        v = v * (u - p2_) * laml_;
      } else {
        y = static_cast<Index>(std::floor(xr_ - std::log(v) / lamr_));
        if (y > n_ || v == 0.0) continue;
        v = v * (u - p3_) * lamr_;
      }
      if (accepts(y, v, n, nrq)) return y;
    }
  }

  bool accepts(Index y, double v, double n, double nrq) const {
    const Index k = std::abs(y - m_);
    if (!(k > 20 && static_cast<double>(k) < nrq / 2.0 - 1)) {
      const double s = r_ / q_, a = s * (n + 1);
      double f = 1.0;
      for (Index i = m_ + 1; i <= y; ++i) f *= a / static_cast<double>(i) - s;
      for (Index i = y + 1; i <= m_; ++i) f /= a / static_cast<double>(i) - s;
      return !(v > f);
    }
    const double of_k = static_cast<double>(k), of_y = static_cast<double>(y), m = static_cast<double>(m_);
    const double rho = (of_k / nrq) * ((of_k * (of_k / 3.0 + 0.625) + 0.16666666666666666) / nrq + 0.5);
    const double t = static_cast<double>(-k * k) / (2 * nrq), a = std::log(v);
    if (a < t - rho) return true;
    if (a > t + rho) return false;
    const double x1 = of_y + 1, f1 = m + 1, z = n + 1 - m, w = n - of_y + 1;
    const auto rest = [](double x) {
      const double square = x * x;
      return (13680. - (462. - (132. - (99. - 140. / square) / square) / square) / square) / x / 166320.;
    };
    return !(a > (xm_ * std::log(f1 / x1) + (n - m + 0.5) * std::log(z / w) +
                  (of_y - m) * std::log(w * r_ / (x1 * q_)) + rest(f1) + rest(z) + rest(x1) + rest(w)));
  }

  Index n_, bound_ = 0, m_ = 0;
  bool is_flipped_, is_inverted_ = false;
  double p_ = 0, q_ = 0, r_ = 0, fm_ = 0, p1_ = 0, xm_ = 0, xl_ = 0, xr_ = 0, c_ = 0, laml_ = 0, lamr_ = 0, p2_ = 0,
         p3_ = 0, p4_ = 0;
  std::vector<double> chances_;  // of 0, 1, … as far as they were needed
};

}  // namespace

void draw_tables(std::span<const std::uint32_t> seed, std::span<const Index> cell_sizes,
                 std::span<const double> chances, Index n_tables, std::span<Index> tables) {
  Twister random(seed);
  const std::size_t n_cells = cell_sizes.size(), n_classes = chances.size() / n_cells + 1;
  // Samples left of each cell and table, in the place of the last class.
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_tables) * n_cells; ++i) {
    tables[(i + 1) * n_classes - 1] = cell_sizes[i % n_cells];
  }
  std::vector<std::vector<std::int32_t>> place(n_cells);  // by cell and samples left: which distribution
  for (std::size_t y = 0; y + 1 < n_classes; ++y) {
    std::vector<Binomial> known;
    for (std::size_t x = 0; x < n_cells; ++x) place[x].assign(static_cast<std::size_t>(cell_sizes[x]) + 1, -1);
    Index* cell = tables.data();
    for (Index t = 0; t < n_tables; ++t) {
      for (std::size_t x = 0; x < n_cells; ++x, cell += n_classes) {
        Index& left = cell[n_classes - 1];
        std::int32_t& which = place[x][static_cast<std::size_t>(left)];
        if (which < 0) {
          which = static_cast<std::int32_t>(known.size());
          known.emplace_back(left, chances[y * n_cells + x]);
        }
        cell[y] = known[static_cast<std::size_t>(which)].draw(random);
        left -= cell[y];
      }
    }
  }
}

}  // namespace interplay
