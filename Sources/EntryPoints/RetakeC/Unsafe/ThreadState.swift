import CRetake
import Foundation
import Retake

/// The library's state of the calling thread: its last error, and whether it is in a callback.
final class ThreadState {
  // SAFETY: the object belongs to one thread, whose key holds one reference to it; the key's
  // destructor releases that. `text` owns the strings that `error` refers to.
  enum Callback: Int, Comparable {
    case none
    case result
    case release

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  private(set) var callback = Callback.none
  /// At one place as long as the thread exists.
  private let error: UnsafeMutablePointer<retake_error>
  private var text: ErrorText

  private init() {
    text = ErrorText(nil)
    error = .allocate(capacity: 1)
    error.initialize(to: text.error)
  }

  deinit { error.deallocate() }

  /// `nil` if the system has no more keys.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key) { state in
      #if canImport(Darwin)
        Unmanaged<ThreadState>.fromOpaque(state).release()
      #else
        if let state { Unmanaged<ThreadState>.fromOpaque(state).release() }
      #endif
    }
    return result == 0 ? key : nil
  }()

  /// For threads without a state. Its error is never set.
  private nonisolated(unsafe) static let shared = ThreadState()

  /// The state of the calling thread; `nil` if the system cannot store one.
  private static var own: ThreadState? {
    guard let key else { return nil }
    if let state = pthread_getspecific(key) {
      return Unmanaged<ThreadState>.fromOpaque(state).takeUnretainedValue()
    }
    let state = ThreadState()
    let kept = Unmanaged.passRetained(state)
    guard pthread_setspecific(key, kept.toOpaque()) == 0 else {
      kept.release()
      return nil
    }
    return state
  }

  static var callback: Callback { own?.callback ?? .none }

  /// The last error of the calling thread.
  static var lastError: UnsafePointer<retake_error> { UnsafePointer((own ?? shared).error) }

  static func note(_ problem: Problem) { own?.set(problem) }

  /// Calls a function of the caller.
  static func calling(_ callback: Callback, _ body: () -> Void) {
    guard let own else { return body() }
    let before = own.callback
    own.callback = max(before, callback)
    body()
    own.callback = before
  }

  private func set(_ problem: Problem?) {
    let text = ErrorText(problem)
    error.pointee = text.error
    // The strings of the error before are freed here.
    self.text = text
  }
}
