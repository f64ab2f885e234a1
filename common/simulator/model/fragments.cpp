#include "model/fragments.hpp"

namespace tilewise::sim::model {

using tensor::Element;
using tensor::Fragment;
using tensor::Part;

namespace {

// Tensor cores multiply 16 rows by 8 columns. The matrix on the left has its rows in two halves of 8, the one on the right is 8
// columns wide, or several times that. 8 x 32 is computed as the transpose of 32 x 8, with A and B exchanged.
// Those of double are 8 x 8.
bool is_transposed(const Fragment& f) { return f.m == 8 && f.n != 8; }

bool is_left(const Fragment& f) { return (f.part == Part::a) != is_transposed(f); }

// Rows of A, columns of B: what is not summed over.
unsigned outer_length(const Fragment& f) { return f.part == Part::a ? f.m : f.n; }

// Where an element of A or B lies: which row of A or column of B, and which of the k products.
struct InputPlace {
  unsigned outer, k;
};

// Registers hold two elements, neighbours in k, and the 32 lanes' registers 8 x 8 of them.
InputPlace place_of_16_bits(bool left, unsigned lane, unsigned i) {
  const unsigned r = i / 2;
  const unsigned outer = left ? r % 2 * 8 + r / 4 * 16 : r / 2 * 8;
  const unsigned k = left ? r / 2 % 2 * 8 : r % 2 * 8;
  return {outer + lane / 4, k + 2 * (lane % 4) + i % 2};
}

// Registers hold one element, and the 32 lanes' registers 8 x 4 of them.
InputPlace place_of_tf32(bool left, unsigned lane, unsigned i) {
  return left ? InputPlace{i % 2 * 8 + lane / 4, i / 2 * 4 + lane % 4}
              : InputPlace{i / 2 * 8 + lane / 4, i % 2 * 4 + lane % 4};
}

// Registers hold four elements, neighbours in k, and the 32 lanes' registers 8 x 16 of them.
InputPlace place_of_8_bits(unsigned lane, unsigned i) { return {i / 4 * 8 + lane / 4, 4 * (lane % 4) + i % 4}; }

Place place_in_accumulator(const Fragment& f, unsigned lane, unsigned i) {
  const unsigned rows_down = lane / 4, pair = 2 * (lane % 4) + i % 2;
  const auto place = [](unsigned row, unsigned column) {
    return Place{static_cast<std::uint8_t>(row), static_cast<std::uint8_t>(column)};
  };
  if (is_transposed(f)) return place(pair, rows_down + i / 2 * 8);
  if (f.m == 32) return place(rows_down + i / 2 * 8, pair);
  return place(rows_down + i / 2 % 2 * 8, pair + i / 4 * 8);
}

bool is_8_bits(Element element) { return element == Element::s8 || element == Element::u8; }

bool is_16_bits(Element element) { return element == Element::f16 || element == Element::bf16; }

// The access that puts 8 x 8 elements of 16 bits into registers r of all lanes. Where neighbours in k do not lie side by side in
// memory, a lane loads what others need, and MOVM exchanges them; it is the same access.
FragmentAccess access_of_tile(const Fragment& f, unsigned r, bool column_major) {
  FragmentAccess access;
  access.bytes = 4;
  const Place first = place_of(f, 0, 2 * r);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    access.at[lane] = {static_cast<std::uint8_t>((column_major ? first.column : first.row) + lane / 4),
                       static_cast<std::uint8_t>((column_major ? first.row : first.column) + 2 * (lane % 4))};
  return access;
}

// Up to four of these 8 x 8 elements at once, from shared memory.
FragmentAccess matrix_load(const Fragment& f, unsigned first, unsigned tiles, bool column_major) {
  FragmentAccess access;
  access.is_matrix_load = true;
  access.bytes = 16;
  access.mask = tiles == 4 ? ~0u : (1u << 8 * tiles) - 1;
  for (unsigned lane = 0; lane < 8 * tiles; ++lane) {
    const Place corner = place_of(f, 0, 2 * (first + lane / 8));
    access.at[lane] = {static_cast<std::uint8_t>((column_major ? corner.column : corner.row) + lane % 8),
                       column_major ? corner.row : corner.column};
  }
  return access;
}

// Elements i to i + count - 1 of each lane, which lie side by side.
FragmentAccess access_of_elements(const Fragment& f, unsigned i, unsigned count, bool column_major) {
  FragmentAccess access;
  access.bytes = count * bytes_of(f.element);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Place p = place_of(f, lane, i);
    access.at[lane] = {column_major ? p.column : p.row, column_major ? p.row : p.column};
  }
  return access;
}

}  // namespace

unsigned bytes_of(Element element) {
  return is_8_bits(element) ? 1 : is_16_bits(element) ? 2 : element == Element::f64 ? 8 : 4;
}

unsigned copies_of(const Fragment& f) {
  // Fragments of mma.sync (m16n8k16) have none.
  const bool of_wmma = f.m * f.n == 256;
  if (f.element != Element::f16 || f.part == Part::accumulator || !of_wmma) return 1;
  return 16 / (outer_length(f) * f.k / kLanes);
}

unsigned elements_of(const Fragment& f) {
  if (f.part == Part::accumulator) return f.m * f.n / kLanes;
  return copies_of(f) * outer_length(f) * f.k / kLanes;
}

Place place_of(const Fragment& f, unsigned lane, unsigned i) {
  i %= elements_of(f) / copies_of(f);
  if (f.part == Part::accumulator) return place_in_accumulator(f, lane, i);
  const InputPlace p = is_8_bits(f.element)         ? place_of_8_bits(lane, i)
                       : is_16_bits(f.element)      ? place_of_16_bits(is_left(f), lane, i)
                       : f.element == Element::tf32 ? place_of_tf32(is_left(f), lane, i)
                                                    : InputPlace{lane / 4, lane % 4};  // double has one element
  const auto outer = static_cast<std::uint8_t>(p.outer), k = static_cast<std::uint8_t>(p.k);
  return f.part == Part::a ? Place{outer, k} : Place{k, outer};
}

std::vector<FragmentAccess> accesses_of(const Fragment& f, bool column_major, bool in_shared) {
  std::vector<FragmentAccess> all;
  const unsigned elements = elements_of(f) / copies_of(f);
  if (is_16_bits(f.element)) {
    const unsigned tiles = elements / 2, at_once = tiles < 4 ? tiles : 4;
    if (in_shared && f.element == Element::f16 && f.part != Part::accumulator) {
      for (unsigned first = 0; first < tiles; first += at_once)
        all.push_back(matrix_load(f, first, at_once, column_major));
    } else {
      for (unsigned r = 0; r < tiles; ++r) all.push_back(access_of_tile(f, r, column_major));
    }
    return all;
  }
  // An accumulator's elements come in pairs, which lie side by side in one of the layouts.
  const bool in_pairs = f.part == Part::accumulator && column_major == is_transposed(f);
  // Four bytes of A and B do where neighbours in k lie side by side; in the other layout each is an access.
  const bool in_fours = is_8_bits(f.element) && column_major == (f.part == Part::b);
  const unsigned step = in_fours ? 4 : in_pairs ? 2 : 1;
  for (unsigned i = 0; i < elements; i += step) all.push_back(access_of_elements(f, i, step, column_major));
  return all;
}

}  // namespace tilewise::sim::model
