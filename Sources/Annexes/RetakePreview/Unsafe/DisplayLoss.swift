import Foundation
import RetakeBuffers

/// Handles the loss of a display while a window is open. By default Xlib would end the process, and
/// a recording with it, with the exit status of a regression.
package enum DisplayLoss {
  // SAFETY: the types match Xlib's headers for both functions and their handlers. SDL's window has
  // already loaded the library. The handlers do not use their arguments.
  private typealias Raw = UnsafeMutableRawPointer
  private typealias Handler = @convention(c) (Raw?, Raw?) -> Int32
  private typealias LossHandler = @convention(c) (Raw?) -> Int32
  private typealias SetHandler = @convention(c) (Handler?) -> Raw?
  private typealias SetLossHandler = @convention(c) (LossHandler?) -> Raw?

  private static let action = Locked<(@Sendable () -> Never)?>(nil)
  private static let refused = Locked(false)

  /// Calls `action` when the connection to the display is lost, on the thread that draws. The
  /// action must end the process, because no window can be used any more.
  package static func onLoss(_ action: @escaping @Sendable () -> Never) {
    self.action.withLock { $0 = action }
  }

  /// Whether the display refused a request because the window was destroyed.
  static var hasRefused: Bool { refused.withLock { $0 } }

  /// Installs the handlers; call it when a window is open. Displays other than X11 do not need
  /// this.
  static func listen() {
    refused.withLock { $0 = false }
    // Only if the library is already loaded.
    guard let library = dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD),
      let setHandler = dlsym(library, "XSetErrorHandler"),
      let setLossHandler = dlsym(library, "XSetIOErrorHandler")
    else { return }
    let refusal: Handler = { _, _ in
      DisplayLoss.refused.withLock { $0 = true }
      return 0
    }
    let loss: LossHandler = { _ in
      // Xlib ends the process when this handler returns (XSetIOErrorHandler), so the action must
      // not.
      if let action = DisplayLoss.action.withLock({ $0 }) { action() }
      return 0
    }
    _ = unsafeBitCast(setHandler, to: SetHandler.self)(refusal)
    _ = unsafeBitCast(setLossHandler, to: SetLossHandler.self)(loss)
  }
}
