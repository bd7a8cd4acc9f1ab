#include "parallel/thread.h"

#include <thimble/error.h>

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace thimble::parallel {
namespace {

void* call(void* given) {
  const std::unique_ptr<std::function<void()>> run(static_cast<std::function<void()>*>(given));
  (*run)();
  return nullptr;
}

}  // namespace

Thread::Thread(std::function<void()> run) {
  auto given = std::make_unique<std::function<void()>>(std::move(run));
  pthread_attr_t attributes;
  int failure = pthread_attr_init(&attributes);
  if (failure == 0) {
    failure = pthread_attr_setstacksize(&attributes, static_cast<size_t>(kStackBytes));
    if (failure == 0) failure = pthread_create(&thread_, &attributes, call, given.get());
    pthread_attr_destroy(&attributes);
  }
  if (failure != 0) {
    throw Error("threads", std::string("the system gives no further thread: ") +
                               std::strerror(failure) + "; ask for fewer");
  }
  static_cast<void>(given.release());  // now owned by the thread
  running_ = true;
}

Thread::~Thread() {
  if (running_) std::terminate();
}

Thread::Thread(Thread&& other) noexcept
    : thread_(other.thread_), running_(std::exchange(other.running_, false)) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  if (running_) std::terminate();
  thread_ = other.thread_;
  running_ = std::exchange(other.running_, false);
  return *this;
}

void Thread::join() {
  pthread_join(thread_, nullptr);
  running_ = false;
}

}  // namespace thimble::parallel
