// Matrix Market files: every form that is read, every mistake that is refused with its line, and the speed.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "tilewise/csr.hpp"

using namespace tilewise;

namespace {

Csr<double> parse(const std::string& text) { return parse_matrix_market<double>(text, "a.mtx"); }

// What parsing says is wrong; "" if nothing.
template <class T = double>
std::string complaint(const std::string& text) {
  try {
    parse_matrix_market<T>(text, "a.mtx");
    return "";
  } catch (const MatrixMarketError& error) {
    return error.what();
  }
}

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    path_ = std::filesystem::temp_directory_path() / ("tilewise-" + std::to_string(getpid()) + ".mtx");
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a general matrix, its entries in any order", "[matrix_market]") {
  const Csr<double> m = parse(general + "% a comment\n%\n3 4 5\n3 1 -2.5\n1 4 1e3\n1 1 7\n3 3 .5\n2 2 -0\n");
  REQUIRE(why_not_valid(m) == "");
  REQUIRE(m == Csr<double>{3, 4, {0, 2, 3, 5}, {0, 3, 1, 0, 2}, {7, 1000, -0.0, -2.5, 0.5}});
}

TEST_CASE("integer and pattern matrices", "[matrix_market]") {
  REQUIRE(parse("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 -7\n2 1 9007199254740993\n") ==
          Csr<double>{2, 2, {0, 1, 2}, {1, 0}, {-7, 9007199254740992.0}});  // rounded, as 2^53 + 1 must be
  REQUIRE(parse("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n") ==
          Csr<double>{2, 2, {0, 1, 2}, {1, 0}, {1, 1}});
}

TEST_CASE("symmetric matrices get their upper half", "[matrix_market]") {
  REQUIRE(parse("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 4\n3 1 5\n3 2 6\n") ==
          Csr<double>{3, 3, {0, 2, 3, 5}, {0, 2, 2, 0, 1}, {4, 5, 6, 5, 6}});
  REQUIRE(parse("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 2 -6\n") ==
          Csr<double>{3, 3, {0, 1, 3, 4}, {1, 0, 2, 1}, {-5, 5, 6, -6}});
  REQUIRE(parse("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n") ==
          Csr<double>{2, 2, {0, 1, 3}, {1, 0, 1}, {1, 1, 1}});
}

TEST_CASE("entries for the same place are summed in the order of the file", "[matrix_market]") {
  REQUIRE(parse(general + "2 2 5\n2 2 1\n1 1 3\n2 2 10\n2 1 5\n2 2 100\n") ==
          Csr<double>{2, 2, {0, 1, 3}, {0, 0, 1}, {3, 5, 111}});
  // In another order the small one would be lost.
  REQUIRE(parse(general + "1 1 3\n1 1 1e300\n1 1 -1e300\n1 1 1\n").values == std::vector<double>{1});
}

TEST_CASE("CRLF, tabs, blank lines, capitals, no newline at the end", "[matrix_market]") {
  const Csr<double> expected{2, 3, {0, 1, 2}, {2, 0}, {1.5, -2}};
  REQUIRE(parse("%%MatrixMarket\tMATRIX Coordinate  Real GENERAL\r\n%x\r\n\r\n2 3 2\r\n1 3 1.5\r\n2 1 -2\r\n") ==
          expected);
  REQUIRE(parse(general + "\n  \n 2\t3  2 \n\n1 3 1.5\n\n\t2 1 -2") == expected);
  REQUIRE(parse(general + "2 3 2\n1 3 +1.5\n2 1 -2\n\n\n   ") == expected);
  REQUIRE(parse(general + "0 0 0\n") == Csr<double>{});
  REQUIRE(parse(general + "2 5 0") == Csr<double>{2, 5, {0, 0, 0}, {}, {}});
}

TEST_CASE("numbers keep every bit, and what is too small is rounded", "[matrix_market]") {
  REQUIRE(parse(general + "1 1 1\n1 1 0.1000000000000000055511151231257827\n").values[0] == 0.1);
  REQUIRE(parse(general + "1 1 1\n1 1 4.9406564584124654e-324\n").values[0] == 0x1p-1074);
  REQUIRE(parse(general + "1 1 1\n1 1 1e-400\n").values[0] == 0);
  REQUIRE(parse(general + "1 1 1\n1 1 1.7976931348623157e308\n").values[0] == std::numeric_limits<double>::max());
  const auto single = [](const std::string& value) {
    return parse_matrix_market<float>(general + "1 1 1\n1 1 " + value + "\n").values[0];
  };
  REQUIRE(single("0.1") == 0.1f);
  REQUIRE(single("1e-60") == 0);
  REQUIRE(single("1e-45") == 0x1p-149f);
  REQUIRE(single("3.4028235e38") == std::numeric_limits<float>::max());
}

TEST_CASE("what is written is what is read", "[matrix_market]") {
  for (const std::string& kind : matrix_kind_names()) {
    const Csr<double> m = generate_csr<double>({matrix_kind_from(kind), 200, 6, 4, Distribution::wide});
    REQUIRE(parse(matrix_market_text(m)) == m);
    const Csr<float> f = generate_csr<float>({matrix_kind_from(kind), 100, 6, 4, Distribution::uniform});
    REQUIRE(parse_matrix_market<float>(matrix_market_text(f)) == f);
  }
}

TEST_CASE("every mistake is named with file and line", "[matrix_market]") {
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  struct Case {
    std::string text, complaint;
  };
  const std::vector<Case> cases = {
      {"", "a.mtx: the file is empty"},
      {"\n", "a.mtx:1: begins with '', not with '%%MatrixMarket'"},
      {"hello\n", "a.mtx:1: begins with 'hello', not with '%%MatrixMarket'"},
      {"\x1b[31m%%MatrixMarket\n", "a.mtx:1: begins with '?[31m%%MatrixMarket', not with '%%MatrixMarket'"},
      {"%%MatrixMarket vector coordinate real general\n", "a.mtx:1: object 'vector'; only 'matrix' can be read"},
      {"%%MatrixMarket matrix array real general\n", "a.mtx:1: format 'array'; only 'coordinate' can be read"},
      {"%%MatrixMarket matrix coordinate complex general\n",
       "a.mtx:1: field 'complex'; only 'real', 'integer' and 'pattern' can be read"},
      {"%%MatrixMarket matrix coordinate real hermitian\n",
       "a.mtx:1: symmetry 'hermitian'; only 'general', 'symmetric' and 'skew-symmetric' can be read"},
      {"%%MatrixMarket matrix coordinate real\n",
       "a.mtx:1: symmetry ''; only 'general', 'symmetric' and 'skew-symmetric' can be read"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "a.mtx:1: a skew-symmetric pattern has no signs"},
      {"%%MatrixMarket matrix coordinate real general more\n", "a.mtx:1: 'more' after the header"},
      // sizes
      {general, "a.mtx:1: the line with rows, columns and entries is missing"},
      {general + "% only\n% comments\n", "a.mtx:3: the line with rows, columns and entries is missing"},
      {general + "3 3\n", "a.mtx:2: the number of entries is missing"},
      {general + "%\n\n3\n", "a.mtx:4: the number of columns is missing"},
      {general + "3 x 4\n", "a.mtx:2: 'x' is no number of columns"},
      {general + "3.0 3 4\n", "a.mtx:2: '3.0' is no number of rows"},
      {general + "-3 3 4\n", "a.mtx:2: '-3' is no number of rows"},
      {general + "3 3 4 5\n", "a.mtx:2: '5' after rows, columns and entries"},
      {general + "2147483648 3 4\n",
       "a.mtx:2: 2147483648 rows: more than 2,147,418,112, which 32-bit positions can hold"},
      {general + "3 99999999999999999999 4\n",
       "a.mtx:2: 99999999999999999999 columns: more than 2,147,418,112, which 32-bit positions can hold"},
      {general + "3 3 3000000000\n",
       "a.mtx:2: 3000000000 entries: more than 2,147,418,112, which 32-bit positions can hold"},
      {general + "0 3 1\n1 1 1\n", "a.mtx:2: entries in a matrix without places"},
      {symmetric + "3 4 1\n2 1 1\n", "a.mtx:2: 3 x 4 cannot be symmetric"},
      // indices
      {general + "3 3 1\n0 1 1\n", "a.mtx:3: row 0 is outside 1..3"},
      {general + "3 3 1\n1 0 1\n", "a.mtx:3: column 0 is outside 1..3"},
      {general + "3 3 1\n4 1 1\n", "a.mtx:3: row 4 is outside 1..3"},
      {general + "3 2 1\n3 3 1\n", "a.mtx:3: column 3 is outside 1..2"},
      {general + "3 3 2\n1 1 1\n-1 1 1\n", "a.mtx:4: row -1 is outside 1..3"},
      {general + "3 3 1\n1 99999999999999999999 1\n", "a.mtx:3: column 99999999999999999999 is outside 1..3"},
      {general + "3 3 1\n4294967297 1 1\n", "a.mtx:3: row 4294967297 is outside 1..3"},
      {general + "3 3 1\nx 1 1\n", "a.mtx:3: 'x' is no row"},
      {general + "3 3 1\n1 1.5 1\n", "a.mtx:3: '1.5' is no column"},
      {general + "3 3 1\n1,1 1\n", "a.mtx:3: '1,1' is no row"},
      {general + "3 3 1\n1\n", "a.mtx:3: the column is missing"},
      // values
      {general + "3 3 1\n1 1\n", "a.mtx:3: the value is missing"},
      {general + "3 3 1\n1 1 \r\n", "a.mtx:3: the value is missing"},
      {general + "3 3 1\n1 1 one\n", "a.mtx:3: 'one' is no number"},
      {general + "3 3 1\n1 1 1.0D+3\n", "a.mtx:3: '1.0D+3' is no number"},
      {general + "3 3 1\n1 1 1,5\n", "a.mtx:3: '1,5' is no number"},
      {general + "3 3 1\n1 1 +-1\n", "a.mtx:3: '+-1' is no number"},
      {general + "3 3 1\n1 1 0x10\n", "a.mtx:3: '0x10' is no number"},
      {general + "3 3 1\n1 1 nan\n", "a.mtx:3: 'nan' is not a finite number"},
      {general + "3 3 1\n1 1 -NaN\n", "a.mtx:3: '-NaN' is not a finite number"},
      {general + "3 3 1\n1 1 inf\n", "a.mtx:3: 'inf' is not a finite number"},
      {general + "3 3 1\n1 1 -Infinity\n", "a.mtx:3: '-Infinity' is not a finite number"},
      {general + "3 3 1\n1 1 1e309\n", "a.mtx:3: 1e309 is out of range"},
      {general + "3 3 1\n1 1 -1e999999\n", "a.mtx:3: -1e999999 is out of range"},
      {general + "3 3 1\n1 1 1 2\n", "a.mtx:3: '2' after the entry"},
      {"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 1.5\n", "a.mtx:3: '1.5' is no integer"},
      {"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 9223372036854775808\n",
       "a.mtx:3: 9223372036854775808 is out of range"},
      {"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n", "a.mtx:3: '1' after the entry"},
      // how many
      {general + "3 3 2\n1 1 1\n", "a.mtx: ends after 1 entries; the size line says 2"},
      {general + "3 3 2147418112\n1 1 1\n", "a.mtx: ends after 1 entries; the size line says 2,147,418,112"},
      {general + "3 3 1\n1 1 1\n\n2 2 2\n", "a.mtx:5: more entries than the 1 of the size line"},
      {general + "3 3 0\n1 1 1\n", "a.mtx:3: more entries than the 0 of the size line"},
      {general + "3 3 2\n1 1 1\n% no\n2 2 2\n", "a.mtx:4: a comment between entries"},
      // halves
      {symmetric + "3 3 1\n1 2 1\n",
       "a.mtx:3: an entry above the diagonal of a symmetric matrix, whose lower half is all that is stored"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 0\n",
       "a.mtx:3: an entry on the diagonal of a skew-symmetric matrix"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    CHECK(complaint(c.text) == c.complaint);
  }
  REQUIRE(complaint<float>(general + "1 1 1\n1 1 1e39\n") == "a.mtx:3: 1e39 is out of range");
  REQUIRE(complaint(general + "1 1 1\n1 1 " + std::string(100, 'z')) ==
          "a.mtx:3: '" + std::string(40, 'z') + "...' is no number");
}

TEST_CASE("no prefix of a file is taken for the file, and no cut crashes the reader", "[matrix_market]") {
  const std::string text = general + "%\n4 4 4\n1 1 1.25\n2 3 -4e-2\n4 4 2\n3 1 11\n";
  REQUIRE(complaint(text) == "");
  for (std::size_t length = 0; length + 3 < text.size(); ++length) {
    INFO(text.substr(0, length));
    REQUIRE(complaint(text.substr(0, length)) != "");
  }
}

TEST_CASE("files: read, not there, a folder", "[matrix_market]") {
  const TemporaryFile file(general + "2 2 2\n1 1 3\n2 1 4\n");
  REQUIRE(read_matrix_market<float>(file.path()) == Csr<float>{2, 2, {0, 1, 2}, {0, 0}, {3, 4}});
  REQUIRE_THROWS_WITH(read_matrix_market<float>("/nowhere/a.mtx"), "/nowhere/a.mtx: No such file or directory");
  REQUIRE_THROWS_WITH(read_matrix_market<float>("/"), "/: is a folder");
  const TemporaryFile empty("");
  REQUIRE_THROWS_AS(read_matrix_market<float>(empty.path()), MatrixMarketError);
}

TEST_CASE("a file is read at 100 MB/s at least", "[matrix_market]") {
  const Csr<double> m = generate_csr<double>({MatrixKind::uniform, 60000, 10, 1, Distribution::uniform});
  const TemporaryFile file(matrix_market_text(m));
  const auto bytes = static_cast<double>(std::filesystem::file_size(file.path()));
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();  // of this process: other processes do not count
    const Csr<double> read = read_matrix_market<double>(file.path());
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    REQUIRE(read == m);
    best = std::max(best, bytes / seconds * 1e-6);
  }
  std::printf("Matrix Market reader: %.0f MB of text at %.0f MB/s of processor time\n", bytes * 1e-6, best);
#ifdef __OPTIMIZE__
  REQUIRE(best >= 100);
#endif
}
