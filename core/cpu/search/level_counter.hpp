// Lists of samples → counts of each level from 1 on of the lanes, segment after segment of the samples: for
// LevelSearcher.
//
// Bottleneck: adding up bit rows. Rows that have a mask are copied close together, so that those of a segment stay in
// the fastest cache while many prefixes are counted with them; lists of samples serve all registers of lanes that are
// counted together.
#pragma once

#include <algorithm>
#include <vector>

#include "rows/level_data.hpp"
#include "rows/restricted_rows.hpp"
#include "search/level_forms.hpp"

namespace interplay {

template <class Form>
class LevelCounter {
 public:
  using Lane = typename Form::Job::Lane;

  // Masks, each with each level from 1 on of the variables at places begin … end − 1; begin: −1 for the masks alone.
  struct Places {
    const Word* masks;
    Index n_masks, begin, end, n_levels;
    Index first_register;  // of lanes to count: lanes of earlier registers come before the variables

    Index n_lists() const { return (end - begin) * (n_levels - 1); }  // per mask
  };

  LevelCounter(const SearchProblem& problem, const LevelData& data, const LaneKernels& kernels)
      : problem_(problem),
        planes_(problem.planes),
        data_(data),
        kernels_(kernels),
        segments_(data.layout().segments),
        n_classes_(planes_.n_classes()),
        n_vectors_(Form::n_vectors(n_classes_)) {
    for (const auto& of_class : segments_) {
      n_segments_ = std::max(n_segments_, static_cast<Index>(of_class.size()));
      most_in_segment_ = std::max(most_in_segment_, in_words(of_class.front().n_samples) * 64);
    }
    list_.resize(most_in_segment_ + kListMultiple);
  }

  // Whether a class has one segment, so that its lists are counted at once.
  bool counts_at_once() const { return n_segments_ == 1; }

  // Words of the rows of a register of lanes that `n_masks` masks have.
  Index kept_words(Index n_masks) const {
    return restricted_words(planes_.n_words * 64, n_masks * n_segments_ * n_classes_);
  }

  // runs: how the lanes lie in the counts of a pattern, of which there are pattern_size. keeps_rows: there is room for
  // the rows of all masks of a prefix
  void start_tile(const LaneRuns& runs, Index pattern_size, bool keeps_rows) {
    runs_ = runs;
    pattern_size_ = pattern_size;
    keeps_rows_ = keeps_rows;
  }

  // The lanes that follow have these rows.
  void set_lanes(const Word* rows, Index n_registers) {
    rows_ = rows;
    n_registers_ = n_registers;
  }

  // count_restricted will be called for these masks.
  void set_masks(const Word* masks, Index n_masks) {
    if (!keeps_rows_) return;
    start_restricted(n_segments_ * n_masks * n_classes_);
    for (Index segment = 0; segment < n_segments_; ++segment) {
      for (Index i = 0; i < n_masks; ++i) restrict_to(segment, masks + i * planes_.n_words);
    }
  }

  void count(const Places& places, Lane* counts, Count* ones) { count_places(places, false, {counts, nullptr}, ones); }

  // The same on copies of the rows that have a mask.
  void count_restricted(const Places& places, Lane* counts, Count* ones) {
    count_places(places, true, {counts, nullptr}, ones);
  }
  // The same in bytes; only where counts_at_once().
  void count_bytes(const Places& places, BytePair* counts, Count* ones) {
    count_places(places, true, {nullptr, counts}, ones);
  }

 private:
  // The samples of a class and segment that have a mask and a level, listed.
  struct Listed {
    Index begin, n_padded;
  };

  // One of these.
  struct Target {
    Lane* counts;
    BytePair* bytes;
  };

  static Index in_words(Index n_samples) { return (n_samples + 63) / 64; }
  const Word* plane_at(Index place, Index level) const { return planes_.plane(problem_.blocks.order[place], level); }

  // How many samples have a mask and a level, and how many of these each bit of a row has. By variable, level and mask,
  // the latter fastest. restricted: on copies of the rows that have the mask
  void count_places(const Places& places, bool restricted, Target target, Count* ones) {
    std::fill_n(ones, places.n_lists() * places.n_masks * n_vectors_, Count{0});
    for (Index segment = 0; segment < n_segments_; ++segment) {
      for (Index i = 0; i < places.n_masks; ++i) {
        const Word* mask = places.masks + i * planes_.n_words;
        const RestrictedRows* rows = nullptr;
        if (restricted && keeps_rows_) {
          rows = restricted_.data() + (segment * places.n_masks + i) * n_classes_;
        } else if (restricted) {
          start_restricted(n_classes_);
          restrict_to(segment, mask);
          rows = restricted_.data();
        }
        list_places(places, i, segment, mask, rows, ones);
        count_listed(places, i, segment, rows, target);
      }
    }
  }

  void list_places(const Places& places, Index i, Index segment, const Word* mask, const RestrictedRows* restricted,
                   Count* ones) {
    const Index n_places = places.end - places.begin;
    const Index most = n_places * (most_in_segment_ + (places.n_levels - 1) * kListMultiple) + most_in_segment_;
    lists_.resize(n_classes_ * (most + kListMultiple));
    listed_.clear();
    Index at = 0;
    for (Index q = 0; q < n_classes_; ++q) {
      const RowSegment& of = segment_of(q, segment);
      const Index n_words = in_words(of.n_samples);
      Count* of_list = ones + i * n_vectors_;
      for (Index place = places.begin; place < places.end; ++place) {
        for (Index level = 1; level < places.n_levels; ++level, of_list += places.n_masks * n_vectors_) {
          const Word* plane = (place < 0 ? mask : plane_at(place, level)) + of.first_word;
          LaneCount* list = lists_.data() + at;
          const Index n = restricted ? kernels_.list_within(plane, mask + of.first_word, n_words, restricted[q].n_bytes,
                                                            restricted[q].n_samples, list)
                                     : kernels_.list_samples(plane, mask + of.first_word, n_words,
                                                             static_cast<LaneCount>(of.n_samples), list);
          Form::add_ones(q, n, of_list);
          listed_.push_back({at, padded(n)});
          at += padded(n);
        }
      }
    }
  }

  void count_listed(const Places& places, Index i, Index segment, const RestrictedRows* restricted, Target target) {
    const Index n_lists = places.n_lists();
    if constexpr (Form::has_bytes) {
      // Longer lists are counted class after class, so that the rows of one stay in the fastest cache.
      const auto is_short = [](const Listed& listed) { return listed.n_padded < 256; };
      if (restricted && n_segments_ == 1 && (target.bytes || std::all_of(listed_.begin(), listed_.end(), is_short))) {
        count_both_classes(places, i, restricted, target);
        return;
      }
    }
    counted_.resize(n_classes_ * n_lists * kLanes);
    for (Index of_register = places.first_register; of_register < n_registers_; ++of_register) {
      LaneCount* counted = counted_.data();
      const Listed* listed = listed_.data();
      for (Index q = 0; q < n_classes_; ++q) {
        const Word* rows = restricted ? restricted[q].of_register(of_register)
                                      : rows_ + of_register * data_.layout().n_words + segment_of(q, segment).start;
        for (Index list = 0; list < n_lists; ++list, ++listed, counted += kLanes) {
          kernels_.count_lanes(rows, lists_.data() + listed->begin, listed->n_padded, counted);
        }
      }
      for (Index list = 0; list < n_lists; ++list) {
        const auto of_class = [&](Index q) { return counted_.data() + (q * n_lists + list) * kLanes; };
        Lane* counts = target.counts + start_of(places, list, i, of_register);
        Form::put(kernels_, of_class, n_classes_, runs_, segment == 0, counts);
      }
    }
  }

  // Where the counts of a list of a mask begin, with the lanes of a register.
  Index start_of(const Places& places, Index list, Index mask, Index of_register) const {
    return (list * places.n_masks + mask) * pattern_size_ + of_register * runs_.n_lanes;
  }

  // The only segment, both classes at once, on restricted rows.
  void count_both_classes(const Places& places, Index i, const RestrictedRows* restricted, Target target) {
    const LanePieces pieces(runs_);
    const Index n_lists = places.n_lists();
    for (Index of_register = places.first_register; of_register < n_registers_; ++of_register) {
      for (Index list = 0; list < n_lists; ++list) {
        const auto of_class = [&](Index q) {
          const Listed& listed = listed_[static_cast<std::size_t>(q * n_lists + list)];
          return ListedRows{restricted[q].of_register(of_register), lists_.data() + listed.begin, listed.n_padded};
        };
        const Index start = start_of(places, list, i, of_register);
        if (target.bytes) {
          kernels_.paired.count_bytes(of_class(0), of_class(1), pieces, target.bytes + start);
        } else {
          kernels_.paired.count(of_class(0), of_class(1), pieces, target.counts + start);
        }
      }
    }
  }

  // A class with fewer segments than others has empty ones after its last.
  RowSegment segment_of(Index q, Index segment) const {
    const std::vector<RowSegment>& of_class = segments_[q];
    if (segment < static_cast<Index>(of_class.size())) return of_class[segment];
    return {of_class.back().first_word, 0, of_class.back().start};
  }

  void start_restricted(Index n) {
    restricted_.clear();
    restricted_.reserve(static_cast<std::size_t>(n));
    const Index n_samples = keeps_rows_ ? planes_.n_words * 64 : n_classes_ * most_in_segment_;
    restricted_rows_.resize(n_registers_ * restricted_words(n_samples, n));
    next_restricted_ = restricted_rows_.data();
  }

  void restrict_to(Index segment, const Word* mask) {
    for (Index q = 0; q < n_classes_; ++q) {
      const RowSegment of = segment_of(q, segment);
      restricted_.push_back(restrict_rows(kernels_, mask + of.first_word, in_words(of.n_samples), rows_ + of.start,
                                          n_registers_, data_.layout().n_words, list_.data(), next_restricted_));
    }
  }

  const SearchProblem& problem_;
  const BitPlanes& planes_;
  const LevelData& data_;
  const LaneKernels& kernels_;
  const std::vector<std::vector<RowSegment>>& segments_;  // [class]
  const Index n_classes_, n_vectors_;
  Index n_segments_ = 0, most_in_segment_ = 0;

  // The tile and its lanes at hand.
  LaneRuns runs_{};
  Index pattern_size_ = 0;
  bool keeps_rows_ = false;
  const Word* rows_ = nullptr;
  Index n_registers_ = 0;

  AlignedBuffer<LaneCount> list_, lists_, counted_;  // counted_: [class][list] * kLanes
  std::vector<Listed> listed_;                       // [class][variable][level]
  std::vector<RestrictedRows> restricted_;           // [segment][mask][class]
  AlignedBuffer<Word> restricted_rows_;
  Word* next_restricted_ = nullptr;
};

}  // namespace interplay
