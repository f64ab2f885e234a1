// Pages of memory, as the operating system gives them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace tilewise::sim::memory {

constexpr int kClosed = PROT_NONE;
constexpr int kOpen = PROT_READ | PROT_WRITE;

std::size_t page_size();

inline std::uintptr_t round_up(std::uintptr_t value, std::size_t step) { return (value + step - 1) / step * step; }
inline std::uintptr_t round_down(std::uintptr_t value, std::size_t step) { return value / step * step; }
inline std::uint8_t* bytes_at(std::uintptr_t address) { return reinterpret_cast<std::uint8_t*>(address); }

/// Ends the program: the operating system has refused what `what` names.
[[noreturn]] void give_up(const char* what);

/// Address space without memory behind it; 0 where there is none.
std::uintptr_t reserve(std::uintptr_t hint, std::size_t bytes);

void protect(std::uintptr_t begin, std::uintptr_t end, int how);

/// Gives the physical pages back and closes the range; it reads as zeros when opened again.
void forget_pages(std::uintptr_t begin, std::uintptr_t end);

/// Makes open memory zero; of a large range, whole pages are exchanged rather than touched.
void zero_pages(std::uintptr_t begin, std::uintptr_t end);

/// Gives open pages the value 0xFF in every byte, if they are many. False, and nothing is done, where they are few or files can't be mapped.
bool fill_pages(std::uintptr_t begin, std::uintptr_t end);

}  // namespace tilewise::sim::memory
