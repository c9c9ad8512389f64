/// A user's action in a window.
enum WindowEvent: Hashable, Sendable {
  case close
  /// It must be redrawn: it was uncovered or resized.
  case exposed
  case key(PreviewKey)
  /// In the window's own units.
  case press(x: Int, y: Int)
  case pointer(x: Int, y: Int, isDown: Bool)
  case release
}
