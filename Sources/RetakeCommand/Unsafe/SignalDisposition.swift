import Foundation

/// What happens to a signal of this process.
enum SignalDisposition {
  /// Whether whoever started the process had the signal ignored.
  static func isIgnored(_ number: Int32) -> Bool {
    var now = sigaction()
    guard sigaction(number, nil, &now) == 0 else { return false }
    #if canImport(Darwin)
      let handler = now.__sigaction_u.__sa_handler
    #else
      let handler = now.__sigaction_handler.sa_handler
    #endif
    // SAFETY: the bits are only looked at: SIG_IGN is the number 1 in the place of a function.
    return unsafeBitCast(handler, to: Int.self) == 1
  }
}
