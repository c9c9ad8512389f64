import CFFmpeg
import Foundation

/// What a live input asks while it waits: FFmpeg gives up its call as soon as the answer is yes.
final class CallGuard: Sendable {
  // SAFETY: FFmpeg gets this object unretained; whoever made it outlives the calls. The
  // variables are touched by the one thread that opens the input.
  private let isOver: @Sendable () -> Bool
  private nonisolated(unsafe) var watched: UnsafeMutablePointer<AVFormatContext>?
  private nonisolated(unsafe) var url: String = ""
  /// Where the stream sent us to; nil as long as it did not.
  private(set) nonisolated(unsafe) var redirection: String?

  /// No other connection may be made by this call.
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

  /// The demuxer of a stream follows a redirection by changing its own URL: then the call ends. It
  /// would connect before it asks, so once the first connection is under way no other may be made.
  /// Call it again with nil before the context may be freed.
  func watch(_ context: UnsafeMutablePointer<AVFormatContext>?, url: String) {
    watched = context
    self.url = url
  }

  private var isCut: Bool {
    if let watched {
      if let text = watched.pointee.url, String(cString: text) != url {
        redirection = String(cString: text)
      }
      // SAFETY: the list is the context's own and longer than this; it is cut where it lies, since
      // the library may hold its address. A connection under way has a copy of its own.
      if let list = watched.pointee.protocol_whitelist, strlen(list) > Self.noProtocol.utf8.count {
        strcpy(list, Self.noProtocol)
        hasForbiddenMore = true
      }
    }
    return redirection != nil || isOver()
  }
}
