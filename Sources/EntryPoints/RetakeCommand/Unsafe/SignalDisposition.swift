import Foundation

/// How this process handles a signal.
enum SignalDisposition {
  /// Whether the parent process had set the signal to be ignored.
  static func isIgnored(_ number: Int32) -> Bool {
    var now = sigaction()
    // Without a new action, sigaction only reports the present one (man 2 sigaction).
    guard sigaction(number, nil, &now) == 0 else { return false }
    #if canImport(Darwin)
      let handler = now.__sigaction_u.__sa_handler
    #else
      let handler = now.__sigaction_handler.sa_handler
    #endif
    // SAFETY: the bits are only read: SIG_IGN is the number 1 in place of a function.
    return unsafeBitCast(handler, to: Int.self) == 1
  }
}
