import CFFmpeg
import Foundation

/// Interrupts the blocking calls of a live input: FFmpeg polls it and aborts when it returns true.
final class CallGuard: Sendable {
  // SAFETY: FFmpeg gets this object unretained; its creator outlives the calls. Only the thread
  // that opens the input uses the variables.
  private let isOver: @Sendable () -> Bool
  private nonisolated(unsafe) var watched: UnsafeMutablePointer<AVFormatContext>?
  private nonisolated(unsafe) var url: String = ""
  /// The address that the stream redirects to; nil if it does not redirect.
  private(set) nonisolated(unsafe) var redirection: String?

  /// Whether this call may not open any further connection.
  private(set) nonisolated(unsafe) var hasForbiddenMore = false

  init(_ isOver: @escaping @Sendable () -> Bool) {
    self.isOver = isOver
  }

  private static let noProtocol = "none"

  var callback: AVIOInterruptCB {
    AVIOInterruptCB(
      callback: { opaque in
        guard let opaque else { return 0 }
        return Unmanaged<CallGuard>.fromOpaque(opaque).takeUnretainedValue().isCut ? 1 : 0
      }, opaque: Unmanaged.passUnretained(self).toOpaque())
  }

  /// The demuxer of a stream follows a redirect by changing its own URL; the call is then aborted.
  /// It would connect before it polls this guard, so no further connection is allowed once the
  /// first one is in progress. Call this again with nil before the context may be freed.
  func watch(_ context: UnsafeMutablePointer<AVFormatContext>?, url: String) {
    watched = context
    self.url = url
  }

  private var isCut: Bool {
    if let watched {
      if let text = watched.pointee.url, String(cString: text) != url {
        redirection = String(cString: text)
      }
      // SAFETY: the context owns the list, which is longer than the replacement. It is overwritten
      // in place, because the library may hold its address. A connection in progress has its own
      // copy.
      if let list = watched.pointee.protocol_whitelist, strlen(list) > Self.noProtocol.utf8.count {
        strcpy(list, Self.noProtocol)
        hasForbiddenMore = true
      }
    }
    return redirection != nil || isOver()
  }
}
