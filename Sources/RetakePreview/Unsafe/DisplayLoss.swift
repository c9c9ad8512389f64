import Foundation
import RetakeBuffers

/// What happens when a display goes away under a window: by itself Xlib would end the process, and
/// with it a recording, with the status of a regression.
public enum DisplayLoss {
  // SAFETY: the types are those of Xlib's headers for both functions and their handlers, which SDL's
  // window has loaded already. The handlers take nothing from their arguments.
  private typealias Raw = UnsafeMutableRawPointer
  private typealias Handler = @convention(c) (Raw?, Raw?) -> Int32
  private typealias LossHandler = @convention(c) (Raw?) -> Int32
  private typealias SetHandler = @convention(c) (Handler?) -> Raw?
  private typealias SetLossHandler = @convention(c) (LossHandler?) -> Raw?

  private static let action = Locked<(@Sendable () -> Never)?>(nil)
  private static let refused = Locked(false)

  /// Calls `action` when the connection to the display is lost, on the thread that draws. It must end
  /// the process: no window can be used any more.
  public static func onLoss(_ action: @escaping @Sendable () -> Never) {
    self.action.withLock { $0 = action }
  }

  /// Whether the display refused a request: somebody destroyed the window.
  static var hasRefused: Bool { refused.withLock { $0 } }

  /// To be called once a window is open. Displays that are not X11's have no such habits.
  static func listen() {
    refused.withLock { $0 = false }
    // Only where it is loaded already.
    guard let library = dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD),
      let setHandler = dlsym(library, "XSetErrorHandler"),
      let setLossHandler = dlsym(library, "XSetIOErrorHandler")
    else { return }
    let refusal: Handler = { _, _ in
      DisplayLoss.refused.withLock { $0 = true }
      return 0
    }
    let loss: LossHandler = { _ in
      if let action = DisplayLoss.action.withLock({ $0 }) { action() }
      return 0
    }
    _ = unsafeBitCast(setHandler, to: SetHandler.self)(refusal)
    _ = unsafeBitCast(setLossHandler, to: SetLossHandler.self)(loss)
  }
}
