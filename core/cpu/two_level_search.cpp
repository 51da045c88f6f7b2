// Two-level, two-class tiles: for each prefix, list the samples in which all of it is 1, add up their bit rows, bound
// the information of all lanes, and score exactly what may beat a maximum.
//
// The counts of the other sub-tuples come from tables over the tile's blocks, each filled once per choice of the
// variables that stand before the first one it leaves out.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "interplay/two_level_data.hpp"

namespace interplay {
namespace {

// Largest float that is not above x.
float rounded_down(double x) {
  const float nearest = static_cast<float>(x);
  return static_cast<double>(nearest) > x ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}

// Counts of "these are 1" → counts of cells, for both classes.
template <class Number>
void subsets_to_cells(Number* counts, int n_members) {
  for (int member = 0; member < n_members; ++member) {
    for (int s = 0; s < 1 << n_members; ++s) {
      if (!(s >> member & 1)) counts[s] -= counts[s | 1 << member];
    }
  }
}

class TwoLevelSearcher final : public TileSearcher {
 public:
  TwoLevelSearcher(const SearchProblem& problem, const InformationTables& tables, const TwoLevelData& data,
                   const LaneKernels& kernels, MaxGains& best, SearchProgress& progress)
      : problem_(problem),
        planes_(problem.planes),
        tables_(tables),
        data_(data),
        kernels_(kernels),
        best_(best),
        progress_(progress),
        k_(static_cast<int>(problem.tiles.dimensions)),
        n_prefix_(k_ - 1),
        full_((1 << n_prefix_) - 1),
        score_((data.bound_is_tight() ? kernels.score_bound : kernels.score_logarithms)[k_]) {
    const auto partner_cells = problem.partner_cells;
    group_ =
        std::lower_bound(partner_cells.begin(), partner_cells.end(), Index{1} << n_prefix_) - partner_cells.begin();
    for (auto& mask : masks_) mask.resize(planes_.n_words);
    for (auto& mask : inner_masks_) mask.resize(planes_.n_words);
    std::fill_n(masks_[0].data(), planes_.n_words, ~Word{0});
    lists_.resize(planes_.n_words * 64 + 8 + kListMultiple);
    fresh_.resize(2 * kLanes);
    make_subsets();
  }

  bool search(const std::int32_t* tile) override {
    const VariableBlocks& blocks = problem_.blocks;
    for (int m = 0; m < n_prefix_; ++m) {
      begin_[m] = blocks.block_start[tile[m]];
      size_[m] = blocks.block_start[tile[m] + 1] - begin_[m];
    }
    const Index lane_block = tile[n_prefix_];
    for (SubsetTable* table : in_filling_order_) table->make_room(size_);
    stopped_ = false;
    for (Index chunk = data_.first_chunk(lane_block); chunk < data_.last_chunk(lane_block) && !stopped_; ++chunk) {
      chunk_ = chunk;
      lane_begin_ = blocks.lane_start[lane_block] + (chunk - data_.first_chunk(lane_block)) * kLanes;
      lane_end_ = std::min(lane_begin_ + kLanes, blocks.lane_start[lane_block + 1]);
      start_chunk();
      descend(0);
    }
    progress_.tuples_done.fetch_add(tuples_, std::memory_order_relaxed);
    tuples_ = 0;
    return !stopped_;
  }

 private:
  // Counts of a subset of the prefix with every lane, for all variables that its places may hold while those before
  // the first gap stay as they are.
  struct SubsetTable {
    int subset = 0;                       // places of the prefix, as bits
    int n_leading = 0;                    // places before the first gap
    bool has_information = false;         // one place is missing: the information without it is needed
    std::array<int, kMaxPrefix> inner{};  // places after the gap
    int n_inner = 0;
    std::array<Index, kMaxPrefix> stride{};         // of each place in the entries
    AlignedBuffer<LaneCount> counts;                // entries * 2 classes * kLanes
    AlignedBuffer<float> information;               // entries * kLanes, lower bounds
    std::vector<std::array<std::int32_t, 2>> ones;  // entries: samples in which the subset is 1, by class

    void make_room(const std::array<Index, kMaxPrefix>& size) {
      Index n_entries = 1;
      stride.fill(0);
      for (int i = n_inner - 1; i >= 0; --i) {
        stride[inner[i]] = n_entries;
        n_entries *= size[inner[i]];
      }
      counts.resize(n_entries * 2 * kLanes);
      if (has_information) information.resize(n_entries * kLanes);
      ones.resize(static_cast<std::size_t>(n_entries));
    }
    Index entry(const std::array<Index, kMaxPrefix>& local) const {
      Index sum = 0;
      for (int i = 0; i < n_inner; ++i) sum += local[inner[i]] * stride[inner[i]];
      return sum;
    }
  };

  void make_subsets() {
    subsets_.resize(static_cast<std::size_t>(full_) + 1);
    for (int subset = 0; subset <= full_; ++subset) {
      SubsetTable& table = subsets_[subset];
      table.subset = subset;
      table.n_leading = std::countr_one(static_cast<unsigned>(subset));
      table.has_information = std::popcount(static_cast<unsigned>(subset)) == n_prefix_ - 1;
      for (int place = table.n_leading; place < n_prefix_; ++place) {
        if (subset >> place & 1) table.inner[table.n_inner++] = place;
      }
    }
    // Smaller subsets first: the information of a larger one needs their counts.
    for (int size = 0; size < n_prefix_; ++size) {
      for (SubsetTable& table : subsets_) {
        if (std::popcount(static_cast<unsigned>(table.subset)) == size) in_filling_order_.push_back(&table);
      }
    }
  }

  void start_chunk() {
    SubsetTable& none = subsets_[0];
    for (int q = 0; q < 2; ++q) {
      std::copy_n(data_.singles(chunk_, q), kLanes, none.counts.data() + q * kLanes);
      none.ones[0][q] = static_cast<std::int32_t>(planes_.class_sizes[q]);
    }
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Index place = lane_begin_ + lane;
      best_of_lane_[lane] = place < lane_end_ ? best_so_far(problem_.blocks.order[place]) : 0.0f;
    }
    contrast_ = problem_.blocks.order[lane_begin_] >= planes_.n_vars;
  }

  float best_so_far(Index row) const { return rounded_down(best_.gain[slot(row)]); }
  Index slot(Index row) const { return row * static_cast<Index>(problem_.partner_cells.size()) + group_; }
  const Word* plane_at(Index place) const { return planes_.plane(problem_.blocks.order[place], 1); }

  // Places 0 … depth − 1 are chosen.
  void descend(int depth) {
    for (SubsetTable* table : in_filling_order_) {
      if (table->n_leading == depth) fill(*table, 0, masks_[depth].data());
    }
    const Index after = depth == 0 ? begin_[0] : begin_[depth - 1] + local_[depth - 1] + 1;
    for (Index place = std::max(begin_[depth], after); place < begin_[depth] + size_[depth] && !stopped_; ++place) {
      local_[depth] = place - begin_[depth];
      if (depth + 1 == n_prefix_) {
        meet_lanes(place);
      } else {
        and_masks(masks_[depth].data(), plane_at(place), masks_[depth + 1].data());
        descend(depth + 1);
      }
    }
  }

  void and_masks(const Word* a, const Word* b, Word* target) const {
    for (Index w = 0; w < planes_.n_words; ++w) target[w] = a[w] & b[w];
  }

  // Fill the entries of a table: choose the variables of its inner places, from the i-th on.
  void fill(SubsetTable& table, int i, const Word* mask) {
    if (i == table.n_inner) {
      fill_entry(table, mask, mask);
      return;
    }
    const int place = table.inner[i];
    // Only variables in ascending order ever meet.
    const int before = i == 0 ? table.n_leading - 1 : table.inner[i - 1];
    const Index after = before < 0 ? begin_[place] : begin_[before] + local_[before] + 1;
    for (Index at = std::max(begin_[place], after); at < begin_[place] + size_[place]; ++at) {
      local_[place] = at - begin_[place];
      if (i + 1 == table.n_inner) {
        fill_entry(table, mask, plane_at(at));
      } else {
        Word* next = inner_masks_[i].data();
        and_masks(mask, plane_at(at), next);
        fill(table, i + 1, next);
      }
    }
  }

  void fill_entry(SubsetTable& table, const Word* a, const Word* b) {
    const Index entry = table.entry(local_);
    if (table.subset != 0) count(a, b, table.counts.data() + entry * 2 * kLanes, table.ones[entry]);
    if (!table.has_information) return;
    // The sub-tuple's own subsets, numbered by its members.
    std::array<int, kMaxPrefix> members{};
    int n_members = 0;
    for (int place = 0; place < n_prefix_; ++place) {
      if (table.subset >> place & 1) members[n_members++] = place;
    }
    LaneCounts counts;
    for (int s = 0; s < 1 << n_members; ++s) {
      int subset = 0;
      for (int member = 0; member < n_members; ++member) subset |= (s >> member & 1) << members[member];
      point_to(subset, s, counts);
    }
    for (int q = 0; q < 2; ++q) subsets_to_cells(counts.prefix_cells[q], n_members);
    kernels_.information[n_members + 1](data_.model(), counts, table.information.data() + entry * kLanes);
  }

  // Samples of both classes in which a & b is 1, with each lane and in all.
  void count(const Word* a, const Word* b, LaneCount* counts, std::array<std::int32_t, 2>& ones) {
    for (int q = 0; q < 2; ++q) {
      const Index first = planes_.class_word_start[q];
      LaneCount* list = lists_.data();
      const Index n = kernels_.list_samples(a + first, b + first, planes_.class_word_start[q + 1] - first, list);
      ones[q] = static_cast<std::int32_t>(n);
      const Index n_padded = (n + kListMultiple - 1) / kListMultiple * kListMultiple;
      std::fill(list + n, list + n_padded, static_cast<LaneCount>(planes_.class_sizes[q]));
      kernels_.count_lanes(data_.rows(chunk_, q), list, n_padded, counts + q * kLanes);
    }
  }

  // Let subset s of a tuple be the counts of `subset` of the prefix, as it is chosen now.
  void point_to(int subset, int s, LaneCounts& counts) {
    SubsetTable& table = subsets_[subset];
    const Index entry = table.entry(local_);
    for (int q = 0; q < 2; ++q) {
      counts.with_lane[q][s] = table.counts.data() + (entry * 2 + q) * kLanes;
      counts.prefix_cells[q][s] = table.ones[entry][q];
    }
  }

  // The whole prefix is chosen: count, bound, score.
  void meet_lanes(Index place) {
    LaneScoreJob& job = job_;
    job.first_lane = static_cast<int>(std::max<Index>(0, place + 1 - lane_begin_));
    job.last_lane = static_cast<int>(lane_end_ - lane_begin_);
    if (job.first_lane >= job.last_lane) return;
    std::array<std::int32_t, 2> ones;
    count(masks_[n_prefix_ - 1].data(), plane_at(place), fresh_.data(), ones);
    for (int subset = 0; subset < full_; ++subset) point_to(subset, subset, job.counts);
    for (int q = 0; q < 2; ++q) {
      job.counts.with_lane[q][full_] = fresh_.data() + q * kLanes;
      job.counts.prefix_cells[q][full_] = ones[q];
      subsets_to_cells(job.counts.prefix_cells[q], n_prefix_);
    }
    for (int member = 0; member < n_prefix_; ++member) {
      members_[member] = problem_.blocks.order[begin_[member] + local_[member]];
      SubsetTable& without = subsets_[full_ & ~(1 << member)];
      job.without_member[member] = without.information.data() + without.entry(local_) * kLanes;
      job.best_of_member[member] = contrast_ ? std::numeric_limits<float>::infinity() : best_so_far(members_[member]);
    }
    job.best_of_lane = best_of_lane_.data();
    for (int s = 0; s <= full_; ++s) {
      for (int q = 0; q < 2; ++q) cells_[2 * s + q] = static_cast<Count>(job.counts.prefix_cells[q][s]);
    }
    without_lane_ = information(tables_.summed_over(2), cells_.data(), full_ + 1, 2);
    job.without_lane = rounded_down(data_.information_of(tables_.to_bits(without_lane_)));
    job.survivors = survivors_.data();
    const int n_survivors = score_(data_.model(), job);
    for (int i = 0; i < n_survivors; ++i) score_exactly(survivors_[i]);
    tuples_ += static_cast<std::uint64_t>(job.last_lane - job.first_lane);
    stopped_ = progress_.stop.load(std::memory_order_relaxed);
  }

  void score_exactly(int lane) {
    for (int q = 0; q < 2; ++q) {
      std::array<std::int32_t, kMaxSubsets> with_lane;
      for (int s = 0; s <= full_; ++s) with_lane[s] = job_.counts.with_lane[q][s][lane];
      subsets_to_cells(with_lane.data(), n_prefix_);
      for (int s = 0; s <= full_; ++s) {
        cells_[2 * s + q] = static_cast<Count>(job_.counts.prefix_cells[q][s] - with_lane[s]);
        cells_[2 * (s + full_ + 1) + q] = static_cast<Count>(with_lane[s]);
      }
    }
    const Index row = problem_.blocks.order[lane_begin_ + lane];
    members_[n_prefix_] = row;
    const Fixed whole = information(tables_.of_tuple(), cells_.data(), 2 * (full_ + 1), 2);
    offer(row, whole - without_lane_);
    best_of_lane_[lane] = best_so_far(row);
    if (contrast_) return;  // a contrast variable neither helps nor hurts a real one
    for (int member = 0; member < n_prefix_; ++member) {
      const Index inner = Index{1} << member;
      const Fixed without =
          summed_information(tables_.summed_over(2), cells_.data(), (full_ + 1) / inner, 2, inner, 2, summed_.data());
      offer(members_[member], whole - without);
      job_.best_of_member[member] = best_so_far(members_[member]);
    }
  }

  void offer(Index row, Fixed gain) {
    best_.offer(slot(row), tables_.to_bits(gain), problem_.discretization, members_.data());
  }

  const SearchProblem& problem_;
  const BitPlanes& planes_;
  const InformationTables& tables_;
  const TwoLevelData& data_;
  const LaneKernels& kernels_;
  MaxGains& best_;
  SearchProgress& progress_;
  const int k_;
  const int n_prefix_;
  const int full_;  // the subset that is the whole prefix
  int (*score_)(const LaneModel&, const LaneScoreJob&);
  Index group_;

  // The tile and chunk at hand.
  std::array<Index, kMaxPrefix> begin_{}, size_{};
  std::array<Index, kMaxPrefix> local_{};  // chosen variables, as places in their blocks
  Index chunk_ = 0, lane_begin_ = 0, lane_end_ = 0;
  bool contrast_ = false;
  bool stopped_ = false;
  std::uint64_t tuples_ = 0;

  std::vector<SubsetTable> subsets_;
  std::vector<SubsetTable*> in_filling_order_;
  std::array<AlignedBuffer<Word>, kMaxPrefix> masks_, inner_masks_;
  AlignedBuffer<LaneCount> lists_;
  AlignedBuffer<LaneCount> fresh_;  // counts of the whole prefix: 2 * kLanes
  alignas(64) std::array<float, kLanes> best_of_lane_{};
  std::array<std::int16_t, kLanes> survivors_{};
  LaneScoreJob job_{};
  std::array<Index, kMaxFastDimensions> members_{};
  std::array<Count, 4 * kMaxSubsets> cells_{}, summed_{};
  Fixed without_lane_ = 0;
};

}  // namespace

std::unique_ptr<TileSearcher> make_two_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                      const TwoLevelData& data, SimdLevel level, MaxGains& best,
                                                      SearchProgress& progress) {
  return std::make_unique<TwoLevelSearcher>(problem, tables, data, lane_kernels(level), best, progress);
}

}  // namespace interplay
