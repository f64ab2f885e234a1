// Nothing of it is here. A program that only includes it compiles; what it uses of it is refused by name, see
// rewriter/libraries.hpp. (No guard: g++ would take the second empty header with `#pragma once` for the first.)
