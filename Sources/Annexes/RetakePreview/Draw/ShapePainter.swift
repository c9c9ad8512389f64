import RetakeCore
import RetakeStages

/// Draws the shapes of an overlay with the renderer. The pixels are the same as in `Frame.drawing`,
/// except for rounding.
struct ShapePainter {
  let canvas: Canvas
  let glyphs: any GlyphPainter
  /// The area of the image. Shapes are in canvas pixels, relative to its top left corner.
  let area: CanvasRect

  func draw(_ shapes: [OverlayShape]) {
    // Boxes may extend beyond the image, and must not cover the bars below it.
    canvas.painter.clip(to: area)
    for shape in shapes { draw(shape) }
    canvas.painter.clip(to: nil)
  }

  private func draw(_ shape: OverlayShape) {
    let color = CanvasColor(shape.color)
    switch shape.form {
    case .fill(let box): canvas.painter.fill(rects([box]), color)
    case .outline(let box, let thickness):
      canvas.painter.fill(rects(sides(of: box, thickness)), color)
    case .text(let text, let x, let y, let scale):
      glyphs.write(text, x: area.x + x, y: area.y + y, scale: scale, color)
    case .line(let points, let thickness): canvas.painter.fill(dots(points, thickness), color)
    }
  }

  private func sides(of box: Box, _ thickness: Int) -> [Box] {
    let across = min(Double(thickness), box.width / 2)
    let down = min(Double(thickness), box.height / 2)
    let inner = box.height - 2 * down
    return [
      Box(x: box.x, y: box.y, width: box.width, height: down),
      Box(x: box.x, y: box.y + box.height - down, width: box.width, height: down),
      Box(x: box.x, y: box.y + down, width: across, height: inner),
      Box(x: box.x + box.width - across, y: box.y + down, width: across, height: inner),
    ]
  }

  /// A square at each pixel along the longer dimension.
  private func dots(_ points: [OverlayShape.Point], _ thickness: Int) -> [CanvasRect] {
    zip(points, points.dropFirst()).flatMap { from, to -> [CanvasRect] in
      let length = max(abs(to.x - from.x), abs(to.y - from.y))
      guard length.isFinite else { return [] }
      // Bounds the loop, because a point may be anywhere.
      let steps = max(1, Int(min(length, 65_536).rounded(.up)))
      return (0...steps).compactMap { step in
        let share = Double(step) / Double(steps)
        return rect(
          Box(
            x: (from.x + (to.x - from.x) * share).rounded(),
            y: (from.y + (to.y - from.y) * share).rounded(), width: Double(thickness),
            height: Double(thickness)))
      }
    }
  }

  private func rects(_ boxes: [Box]) -> [CanvasRect] { boxes.compactMap(rect) }

  /// With edges rounded to pixels; `nil` if no pixel of the box is inside the image.
  private func rect(_ box: Box) -> CanvasRect? {
    guard box.width > 0, box.height > 0, box.x < Double(area.width), box.y < Double(area.height),
      box.x + box.width > 0, box.y + box.height > 0
    else { return nil }
    let (left, top) = (Int(max(0, box.x).rounded()), Int(max(0, box.y).rounded()))
    let right = Int(min(Double(area.width), box.x + box.width).rounded())
    let bottom = Int(min(Double(area.height), box.y + box.height).rounded())
    guard left < right, top < bottom else { return nil }
    return CanvasRect(area.x + left, area.y + top, right - left, bottom - top)
  }
}

extension CanvasColor {
  init(_ color: OverlayColor) {
    self.init(color.red, color.green, color.blue, color.alpha)
  }
}
