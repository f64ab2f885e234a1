// Between which threads an atomic, a barrier or a fence of libcu++ holds.
#pragma once

namespace cuda {

enum thread_scope { thread_scope_system = 0, thread_scope_device, thread_scope_block, thread_scope_thread = 10 };

}  // namespace cuda
