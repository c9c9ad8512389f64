import Foundation

/// Threads of our own.
enum NamedThread {
  /// Bytes, as much as a main thread usually has: stages may be anybody's code.
  private static let stackSize = 8 << 20

  /// Runs `body` on a new thread. The name is for debuggers; not every system shows it.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.stackSize = stackSize
    thread.start()
  }
}
