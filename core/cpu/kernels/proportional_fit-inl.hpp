// Iterative proportional fitting of eight tables at a time, one in each lane. A lane whose table has converged gets the
// next one, so that no table waits for others. Included once per instruction set.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/proportional_fit.hpp"

namespace interplay {
namespace {

constexpr Index kLanes = 8;

// Below this a fitted margin is 0, and so are all entries that it is the sum of.
constexpr double kNothing = 1e-300;

// ln x of a positive normal number, without branches, to the last bit but one (the polynomial of fdlibm).
inline double log_of(double x) {
  constexpr std::uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kExponents = std::uint64_t{1024} << 52;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = (bits - kRootOfHalf + kExponents) >> 52;  // 1024 more than that of x
  const double m = std::bit_cast<double>(bits - (exponent << 52) + kExponents);
  const double k = std::bit_cast<double>(exponent | 0x4330000000000000) - (4503599627370496.0 + 1024);
  const double f = m - 1, s = f / (2 + f), z = s * s, w = z * z;
  const double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double odd =
      z * (6.666666666666735130e-01 +
           w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half = 0.5 * f * f;
  const double low = s * (half + (even + odd)) + k * 1.90821492927058770002e-10;
  return k * 6.93147180369123816490e-01 - ((half - low) - f);
}

// n·ln n, which most tables need of the same small numbers.
class NLogN {
 public:
  NLogN() : known_(4096) {
    for (std::size_t n = 1; n < known_.size(); ++n)
      known_[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
  }
  double operator()(Index n) const {
    if (static_cast<std::size_t>(n) < known_.size()) return known_[static_cast<std::size_t>(n)];
    return static_cast<double>(n) * std::log(static_cast<double>(n));
  }

 private:
  std::vector<double> known_;
};

class TableFitter {
 public:
  TableFitter(const FittedShape& shape, const FitOptions& options)
      : shape_(shape), options_(options), n_entries_(static_cast<std::size_t>(shape.n_entries)) {
    margins_.resize(shape.part_size.size());
    for (std::size_t part = 0; part < margins_.size(); ++part) {
      margins_[part].resize(static_cast<std::size_t>(shape.part_size[part]));
    }
    start_.resize(n_entries_);
    cell_sizes_.resize(n_entries_ / static_cast<std::size_t>(shape.n_classes));
    if (options.max_sweeps == 0) return;
    counts_.resize(n_entries_ * kLanes);
    mu_.assign(n_entries_ * kLanes, 0.0);
    for (const Index length : shape.lengths)
      wanted_.emplace_back(n_entries_ / static_cast<std::size_t>(length) * kLanes);
  }

  void fit(const Index* counts, std::size_t n_tables, double* g2, bool* is_complete) {
    std::size_t next = 0, n_active = 0;
    const auto begin = [&](Lane& lane, Index place) {  // with the next table that is not done at its start
      while (next < n_tables) {
        const std::size_t table = next++;
        lane = {table, 0, 0.0, std::numeric_limits<double>::infinity(), start(counts + table * n_entries_)};
        is_complete[table] = is_complete_;
        g2[table] = lane.g2 = g2_at_start();
        if (options_.max_sweeps > 0) {
          put(place);
          return true;
        }
      }
      lane.table = kNone;
      return false;
    };
    for (Index w = 0; w < kLanes; ++w) n_active += begin(lanes_[w], w);
    while (n_active > 0) {
      double new_g2[kLanes];
      sweep(new_g2);
      for (Index w = 0; w < kLanes; ++w) {
        Lane& lane = lanes_[w];
        if (lane.table == kNone) continue;
        const double now = std::max(2 * (lane.sum_n_log_n - new_g2[w]), 0.0), step = std::max(lane.g2 - now, 0.0);
        const double factor = std::min(step / std::max(lane.last_step, std::numeric_limits<double>::min()), 1 - 1e-6);
        const double left = step * factor / (1 - factor);
        const bool is_done = (std::isfinite(lane.last_step) && left <= options_.tolerance * (1 + now)) || step == 0;
        lane.g2 = now;
        lane.last_step = step;
        if (is_done || ++lane.n_sweeps == options_.max_sweeps) {
          g2[lane.table] = now;
          n_active -= !begin(lane, w);
        }
      }
    }
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Lane {
    std::size_t table = kNone;
    Index n_sweeps = 0;
    double g2 = 0, last_step = 0, sum_n_log_n = 0;
  };

  // Kirkwood's product of a table's margins, scaled to its cell sizes, into `start_`; returns Σ n ln n.
  double start(const Index* table) {
    const std::size_t whole = margins_.size() - 1, n_classes = static_cast<std::size_t>(shape_.n_classes);
    std::vector<double>& of_whole = margins_[whole];
    double sum_n_log_n = 0;
    for (std::size_t e = 0; e < n_entries_; ++e) {
      of_whole[e] = static_cast<double>(table[e]);
      sum_n_log_n += n_log_n_(table[e]);
    }
    is_complete_ = true;
    std::fill(start_.begin(), start_.end(), 1.0);
    for (std::size_t part = whole; part-- > 0;) {
      std::vector<double>& margin = margins_[part];
      const std::vector<double>& larger = margins_[shape_.larger[part]];
      std::fill(margin.begin(), margin.end(), 0.0);
      const std::int32_t* to = shape_.from_larger[part].data();
      for (std::size_t i = 0; i < larger.size(); ++i) margin[static_cast<std::size_t>(to[i])] += larger[i];
    }
    for (std::size_t part = 0; part < whole; ++part) {
      std::vector<double>& margin = margins_[part];
      const int n_left_out = static_cast<int>(shape_.n_members) - std::popcount(part);
      if (n_left_out == 1) {
        for (const double n : margin) is_complete_ &= n > 0;
      } else if (n_left_out % 2 == 0) {  // a margin of 0 is a sum of margins that make the product 0
        factors_.resize(margin.size());
        for (std::size_t i = 0; i < margin.size(); ++i) factors_[i] = 1 / std::max(margin[i], 1.0);
      }
      const std::vector<double>& factors = n_left_out % 2 == 0 ? factors_ : margin;
      const std::int32_t* place = shape_.part_place[part].data();
      for (std::size_t e = 0; e < n_entries_; ++e) start_[e] *= factors[static_cast<std::size_t>(place[e])];
    }
    for (std::size_t x = 0; x < cell_sizes_.size(); ++x) {
      double size = 0, fitted = 0;
      for (std::size_t y = 0; y < n_classes; ++y) {
        size += of_whole[x * n_classes + y];
        fitted += start_[x * n_classes + y];
      }
      is_complete_ &= size > 0;
      cell_sizes_[x] = size;
      const double ratio = size / std::max(fitted, kNothing);
      for (std::size_t y = 0; y < n_classes; ++y) start_[x * n_classes + y] *= ratio;
    }
    sum_n_log_n_ = sum_n_log_n;
    return sum_n_log_n;
  }

  double g2_at_start() const {
    const std::vector<double>& n = margins_.back();
    double sums[kLanes] = {};
    const std::size_t end = n_entries_ - n_entries_ % kLanes;
    for (std::size_t e = 0; e < end; e += kLanes) {
      for (std::size_t w = 0; w < kLanes; ++w) sums[w] += n[e + w] * log_of(std::max(start_[e + w], kNothing));
    }
    for (std::size_t e = end; e < n_entries_; ++e) sums[0] += n[e] * log_of(std::max(start_[e], kNothing));
    double sum = 0;
    for (const double one : sums) sum += one;
    return std::max(2 * (sum_n_log_n_ - sum), 0.0);
  }

  // The table at hand into a lane.
  void put(Index lane) {
    const std::size_t w = static_cast<std::size_t>(lane), n_members = static_cast<std::size_t>(shape_.n_members);
    const std::vector<double>& n = margins_.back();
    for (std::size_t e = 0; e < n_entries_; ++e) {
      counts_[e * kLanes + w] = n[e];
      mu_[e * kLanes + w] = start_[e];
    }
    for (std::size_t axis = 0; axis < n_members; ++axis) {
      const std::vector<double>& margin = margins_[(margins_.size() - 1) ^ (std::size_t{1} << axis)];
      for (std::size_t i = 0; i < margin.size(); ++i) wanted_[axis][i * kLanes + w] = margin[i];
    }
    for (std::size_t x = 0; x < cell_sizes_.size(); ++x) wanted_[n_members][x * kLanes + w] = cell_sizes_[x];
  }

  // Gives the fits of all lanes one margin after the other, the cell sizes last; Σ n ln μ of each lane.
  void sweep(double* sum_n_log_mu) {
    const Index n_axes = static_cast<Index>(shape_.lengths.size());
    for (Index axis = 0; axis + 1 < n_axes; ++axis) scale(axis);
    const Index n_classes = shape_.n_classes;
    double total[kLanes] = {};
    const double* wanted = wanted_.back().data();
    const double* n = counts_.data();
    for (double* cell = mu_.data(); cell < mu_.data() + mu_.size(); cell += n_classes * kLanes) {
      double ratio[kLanes] = {};
      for (Index y = 0; y < n_classes; ++y) {
        for (Index w = 0; w < kLanes; ++w) ratio[w] += cell[y * kLanes + w];
      }
      for (Index w = 0; w < kLanes; ++w) ratio[w] = wanted[w] / std::max(ratio[w], kNothing);
      for (Index y = 0; y < n_classes; ++y) {
        for (Index w = 0; w < kLanes; ++w) {
          const double mu = cell[y * kLanes + w] * ratio[w];
          cell[y * kLanes + w] = mu;
          total[w] += n[w] * log_of(std::max(mu, kNothing));
        }
        n += kLanes;
      }
      wanted += kLanes;
    }
    std::copy(total, total + kLanes, sum_n_log_mu);
  }

  void scale(Index axis) {
    const Index length = shape_.lengths[static_cast<std::size_t>(axis)];
    const Index inner = shape_.strides[static_cast<std::size_t>(axis)];
    const double* wanted = wanted_[static_cast<std::size_t>(axis)].data();
    for (double* outer = mu_.data(); outer < mu_.data() + mu_.size(); outer += length * inner * kLanes) {
      for (Index i = 0; i < inner; ++i) {
        double* const first = outer + i * kLanes;
        double ratio[kLanes] = {};
        for (Index j = 0; j < length; ++j) {
          for (Index w = 0; w < kLanes; ++w) ratio[w] += first[j * inner * kLanes + w];
        }
        for (Index w = 0; w < kLanes; ++w) ratio[w] = wanted[w] / std::max(ratio[w], kNothing);
        for (Index j = 0; j < length; ++j) {
          for (Index w = 0; w < kLanes; ++w) first[j * inner * kLanes + w] *= ratio[w];
        }
        wanted += kLanes;
      }
    }
  }

  const FittedShape& shape_;
  const FitOptions options_;
  const std::size_t n_entries_;
  const NLogN n_log_n_;
  // Of the table at hand.
  std::vector<std::vector<double>> margins_;  // of each part
  std::vector<double> start_, cell_sizes_, factors_;
  double sum_n_log_n_ = 0;
  bool is_complete_ = true;
  // Of the tables in the lanes: entries, each with its lanes.
  Lane lanes_[kLanes];
  std::vector<double> counts_, mu_;
  std::vector<std::vector<double>> wanted_;  // of each axis: the sums over it
};

void fit_with_lanes(const FittedShape& shape, const Index* counts, std::size_t n_tables, const FitOptions& options,
                    double* g2, bool* is_complete) {
  TableFitter(shape, options).fit(counts, n_tables, g2, is_complete);
}

}  // namespace
}  // namespace interplay
