// Runs a function of a binding without the interpreter's lock (GIL), also while the interpreter ends.
//
// At its end the interpreter lets no daemon thread have the lock again: a thread that asks for it is unwound, or hangs,
// and to unwind one through destructors that wait for the lock aborts the program. So before its end the interpreter
// waits until no thread is without the lock: searches are asked to stop, the rest takes moments.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace interplay::bindings {

class WithoutGil {
 public:
  // In a thread that the end of the interpreter would cut off: raises SystemExit, which ends a thread without a word.
  WithoutGil() {
    raise_if_ending();
    n_running.fetch_add(1);
    state_ = PyEval_SaveThread();
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    // Too late for the lock: like a daemon thread of newer Pythons, this one waits for the end of the process.
    while (has_ended.load()) std::this_thread::sleep_for(std::chrono::hours(1));
    PyEval_RestoreThread(state_);
    n_running.fetch_sub(1);  // with the lock, so that a thread that waits for this goes on when C++ is left
  }

  // Whether the interpreter ends, and this is not the thread that ends it. Needs no lock.
  static bool must_end() { return is_ending.load() && std::this_thread::get_id() != ending_thread; }

  // Needs the lock.
  static void raise_if_ending() {
    if (!must_end()) return;
    PyErr_SetNone(PyExc_SystemExit);
    throw nanobind::python_error();
  }

  // To be called once, by the module.
  static void watch_interpreter() {
    nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(&end));
    const nanobind::module_ os = nanobind::module_::import_("os");
    if (nanobind::hasattr(os, "register_at_fork")) {
      // The other threads, and their work, stay behind.
      os.attr("register_at_fork")(nanobind::arg("after_in_child") = nanobind::cpp_function([] { n_running = 0; }));
    }
  }

 private:
  // A search stops within a fraction of this; a callback of a user's may do as it likes.
  static constexpr auto kLongestWait = std::chrono::seconds(5);

  static void end() {
    ending_thread = std::this_thread::get_id();
    is_ending = true;
    PyThreadState* state = PyEval_SaveThread();
    const auto give_up = std::chrono::steady_clock::now() + kLongestWait;
    while (n_running.load() > 0 && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    has_ended = n_running.load() > 0;
    PyEval_RestoreThread(state);
  }

  PyThreadState* state_;

  // No mutex: a process may be forked while another thread holds it.
  static inline std::atomic<int> n_running{0};
  static inline std::atomic<bool> is_ending{false}, has_ended{false};
  static inline std::thread::id ending_thread;
};

}  // namespace interplay::bindings
