#include <stdexcept>

#include "kernels/proportional_fit-inl.hpp"

namespace interplay {

FittedShape::FittedShape(std::span<const Index> shape)
    : n_members(static_cast<Index>(shape.size()) - 1),
      n_classes(shape.back()),
      n_entries(1),
      lengths(shape.begin(), shape.end()),
      strides(shape.size()) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = n_entries;
    n_entries *= shape[axis];
  }
  const std::size_t n_parts = std::size_t{1} << n_members, whole = n_parts - 1;
  part_size.resize(n_parts);
  part_place.resize(n_parts);
  from_larger.resize(n_parts);
  larger.resize(n_parts);
  // Levels of the part's members and the class, the last fastest.
  const auto place_in = [&](std::size_t part, Index entry) {
    Index place = 0;
    for (std::size_t member = 0; member < static_cast<std::size_t>(n_members); ++member) {
      if (part >> member & 1) place = place * shape[member] + entry / strides[member] % shape[member];
    }
    return static_cast<std::int32_t>(place * n_classes + entry % n_classes);
  };
  for (std::size_t part = 0; part < n_parts; ++part) {
    part_size[part] = n_classes;
    for (std::size_t member = 0; member < static_cast<std::size_t>(n_members); ++member) {
      if (part >> member & 1) part_size[part] *= shape[member];
    }
    for (Index entry = 0; entry < n_entries; ++entry) part_place[part].push_back(place_in(part, entry));
  }
  for (std::size_t part = 0; part < whole; ++part) {
    larger[part] = static_cast<std::uint32_t>(part | (part + 1));  // with its lowest member that is not in the part
    from_larger[part].resize(static_cast<std::size_t>(part_size[larger[part]]));
    for (Index entry = 0; entry < n_entries; ++entry) {
      const auto e = static_cast<std::size_t>(entry);
      from_larger[part][static_cast<std::size_t>(part_place[larger[part]][e])] = part_place[part][e];
    }
  }
}

FitTables fit_tables_serial() { return &fit_with_lanes; }

void fit_tables(std::span<const Index> counts, std::span<const Index> shape, const FitOptions& options, SimdLevel level,
                std::span<double> g2, std::span<bool> is_complete) {
  if (g2.empty()) return;
  const FittedShape fitted(shape);
  FitTables fit = fit_tables_serial();
#if defined(INTERPLAY_X86)
  if (level == SimdLevel::avx2) fit = fit_tables_avx2();
  if (level == SimdLevel::avx512) fit = fit_tables_avx512();
#else
  (void)level;
#endif
  fit(fitted, counts.data(), g2.size(), options, g2.data(), is_complete.data());
}

}  // namespace interplay
