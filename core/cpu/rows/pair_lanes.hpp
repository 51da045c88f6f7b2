// Pairs of variables as lanes: which pairs a tile has, their bit rows, and how values per variable ("vertex") spread
// out to them. Pairs are in order of their first variable, then of the second.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "rows/two_level_data.hpp"

namespace interplay {

// Lanes that share their first variable: consecutive second variables.
struct PairFan {
  Index lane, n_lanes;
  Index first;        // vertex of the first variable
  Index second;       // vertex of the second variable of the first lane
  Index first_place;  // the first variable, as a place in the order
  bool is_last;       // no pair of that variable comes after these
};

class PairLanes {
 private:
  static constexpr Index kMaxKeptWords = Index{1} << 21;  // 16 MB

 public:
  PairLanes(const SearchProblem& problem, const TwoLevelData& data, const LaneKernels& kernels)
      : problem_(problem), data_(data), kernels_(kernels) {}

  // Whether a tile's last two blocks have no more variables than there are lanes.
  static bool fit(const SearchProblem& problem, const std::int32_t* tile) {
    const VariableBlocks& blocks = problem.blocks;
    const Index k = problem.tiles.dimensions;
    const auto after =
        std::upper_bound(blocks.lane_start.begin(), blocks.lane_start.end(), problem.block_begin(tile, k - 2));
    return problem.block_size(tile, k - 1) <= kLanes && *after - *(after - 1) <= kLanes;
  }

  // All pairs of a variable of a middle block with a later one of a lane block of up to 256.
  void set_up(Index first_block, Index lane_block) {
    if (first_block == first_block_ && lane_block == lane_block_) return;
    first_block_ = first_block;
    lane_block_ = lane_block;
    const VariableBlocks& blocks = problem_.blocks;
    first_begin_ = blocks.middle_start[first_block];
    first_end_ = blocks.middle_start[first_block + 1];
    second_begin_ = blocks.lane_start[lane_block];
    const Index second_end = blocks.lane_start[lane_block + 1];
    const auto after = std::upper_bound(blocks.lane_start.begin(), blocks.lane_start.end(), first_begin_);
    const Index first_lane_block = after - blocks.lane_start.begin() - 1;
    // The bit rows of the second variables come first; the first variables are in the same ones, or in others.
    n_vertex_rows = first_lane_block == lane_block ? 1 : 2;
    vertex_rows = {data_.last_members(lane_block)[0].rows, data_.last_members(first_lane_block)[0].rows};
    vertex_begin = {second_begin_, *(after - 1)};
    n_vertices = {second_end - second_begin_, *after - *(after - 1)};
    vertex_lanes = (std::max(n_vertices[0], n_vertices[1]) + 15) / 16 * 16;
    first_vertex_ = (n_vertex_rows - 1) * vertex_lanes + (first_begin_ - *(after - 1));
    start_.clear();
    n_pairs = 0;
    for (Index first = first_begin_; first < first_end_; ++first) {
      start_.push_back(n_pairs);
      n_pairs += second_end - std::max(second_begin_, first + 1);
    }
    start_.push_back(n_pairs);
    // Neighbouring tiles often have the same pairs: their rows are kept, unless they are very many.
    const Index n_sets = (n_pairs + kLanes - 1) / kLanes;
    n_kept_ = n_sets * data_.layout().n_words <= kMaxKeptWords ? n_sets : 0;
    rows_made_.assign(static_cast<std::size_t>(n_kept_), 0);
    rows_.resize(std::max<Index>(n_kept_, 1) * data_.layout().n_words);
    gather_vertex_words();
  }

  // Make the lanes of up to 256 pairs from `first_pair` on. The first set of lanes is the one that is not full:
  // prefixes often meet the last few pairs only, which should be in one set of lanes.
  // members: OUT row numbers of each lane's variables
  void start_lanes(Index first_pair, LaneMembers& members) {
    first_pair_ = first_pair;
    n_lanes = (n_pairs - first_pair - 1) % kLanes + 1;
    fans_.clear();
    for (Index i = 0; i < first_end_ - first_begin_; ++i) {
      const Index begin = std::max(start_[i], first_pair), end = std::min(start_[i + 1], first_pair + n_lanes);
      if (begin >= end) continue;
      const Index first = first_begin_ + i;
      last_first = first;
      const Index second = std::max(second_begin_, first + 1) + (begin - start_[i]);
      fans_.push_back(
          {begin - first_pair, end - begin, first_vertex_ + i, second - second_begin_, first, end == start_[i + 1]});
      for (Index n = 0; n < end - begin; ++n) {
        members[begin - first_pair + n] = {problem_.blocks.order[first], problem_.blocks.order[second + n]};
      }
    }
    const Index set = n_kept_ ? (first_pair + kLanes - 1) / kLanes : 0;
    rows = rows_.data() + set * data_.layout().n_words;
    if (n_kept_ && rows_made_[set]) return;
    make_rows(rows_.data() + set * data_.layout().n_words);
    if (n_kept_) rows_made_[set] = 1;
  }

  // The first lane whose variables all come after `place` in the order.
  Index first_lane_after(Index place) const {
    const Index first = std::clamp<Index>(place + 1 - first_begin_, 0, first_end_ - first_begin_);
    return std::max<Index>(0, start_[first] - first_pair_);
  }

  // The first of the vertices that share bit rows to come after `place`.
  Index first_vertex_after(Index place, Index v) const {
    return std::clamp<Index>(place + 1 - vertex_begin[v], 0, n_vertices[v]);
  }

  // Runs whose first variable is at one of these places; none unless each is paired with every vertex after it.
  template <class Visit>
  void for_fans_within(Index begin, Index end, Visit visit) const {
    if (n_vertex_rows > 1) return;
    for (const PairFan& fan : fans_) {
      if (fan.first_place >= begin && fan.first_place < end) visit(fan);
    }
  }

  // Values per vertex → values per lane, for lanes from some fan on. The vertices are followed by room for
  // kStep more, which may be read.
  static constexpr Index kStep = 16;

  // vertices: [bit rows][vertex_lanes] → of_first, of_second: [kLanes]
  template <class T>
  void spread(const T* vertices, Index from_lane, T* of_first, T* of_second) const {
    in_steps(from_lane, [&](const PairFan& fan, Index lane, auto width) {
      spread_step<width>(vertices, fan, lane, of_first, of_second);
    });
  }

  Index n_pairs = 0;        // of the tile
  Index n_vertex_rows = 0;  // sets of bit rows that hold the tile's variables: 1 or 2
  Index vertex_lanes = 0;   // room for the variables of one set
  std::array<Index, 2> vertex_begin{}, n_vertices{};
  std::array<const Word*, 2> vertex_rows{};
  const Word* rows = nullptr;  // of the pairs at hand
  Index n_lanes = 0;
  Index last_first = 0;  // the last of their first variables, as a place in the order

 private:
  // The words of all vertices side by side: the pairs of a fan then come from neighbours.
  void gather_vertex_words() {
    const BitPlanes& planes = problem_.planes;
    const Index stride = n_vertex_rows * vertex_lanes;
    vertex_words_.resize(planes.n_words * stride);
    for (Index v = 0; v < n_vertex_rows; ++v) {
      for (Index vertex = 0; vertex < n_vertices[v]; ++vertex) {
        const Word* plane = planes.plane(problem_.blocks.order[vertex_begin[v] + vertex], 1);
        Word* words = vertex_words_.data() + v * vertex_lanes + vertex;
        for (Index w = 0; w < planes.n_words; ++w) words[w * stride] = plane[w];
      }
    }
  }

  void make_rows(Word* rows_of_pairs) const {
    const auto fill_lanes = [&](Index word, Word* lanes) {
      const Word* words = vertex_words_.data() + word * n_vertex_rows * vertex_lanes;
      // By value: for all the compiler knows, `lanes` could alias a fan that is referred to.
      for (const PairFan fan : fans_) {
        const Word first = words[fan.first];
        const Word* second = words + fan.second;
        for (Index n = 0; n < fan.n_lanes; ++n) lanes[fan.lane + n] = first & second[n];
      }
      std::fill(lanes + n_lanes, lanes + kLanes, 0);
    };
    transpose_to_rows(data_.layout(), kernels_, fill_lanes, rows_of_pairs);
  }

  // `width` lanes of a fan, from its `lane`-th on.
  template <Index width, class T>
  static void spread_step(const T* of_vertex, const PairFan& fan, Index lane, T* of_first, T* of_second) {
    std::fill_n(of_first + fan.lane + lane, width, of_vertex[fan.first]);
    std::memcpy(of_second + fan.lane + lane, of_vertex + fan.second + lane, width * sizeof(T));
  }

  // Lanes of each fan in steps, which may write over the lanes of the next fan: that comes later. Where a step would go
  // beyond the last lane, one by one.
  template <class Step>
  void in_steps(Index from_lane, Step step) const {
    for (const PairFan& fan : fans_) {
      if (fan.lane + fan.n_lanes <= from_lane) continue;
      Index lane = 0;
      for (; lane < fan.n_lanes && fan.lane + lane + kStep <= kLanes; lane += kStep) {
        step(fan, lane, std::integral_constant<Index, kStep>{});
      }
      for (; lane < fan.n_lanes; ++lane) step(fan, lane, std::integral_constant<Index, 1>{});
    }
  }

  const SearchProblem& problem_;
  const TwoLevelData& data_;
  const LaneKernels& kernels_;
  Index first_begin_ = 0, first_end_ = 0, second_begin_ = 0, first_vertex_ = 0, first_pair_ = 0;
  std::vector<Index> start_;  // first pair of each first variable
  std::vector<PairFan> fans_;
  Index first_block_ = -1, lane_block_ = -1;
  Index n_kept_ = 0;  // sets of lanes whose rows are kept
  std::vector<std::uint8_t> rows_made_;
  AlignedBuffer<Word> rows_;
  AlignedBuffer<Word> vertex_words_;  // [word of a plane][vertex]
};

}  // namespace interplay
