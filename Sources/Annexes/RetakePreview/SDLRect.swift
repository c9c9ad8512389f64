/// `SDL_Rect`.
struct SDLRect: Hashable, Sendable {
  var x: Int32
  var y: Int32
  var width: Int32
  var height: Int32

  init(_ rect: CanvasRect) {
    x = Int32(clamping: rect.x)
    y = Int32(clamping: rect.y)
    width = Int32(clamping: rect.width)
    height = Int32(clamping: rect.height)
  }
}
