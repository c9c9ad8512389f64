package import RetakeBuffers
import RetakeCore
package import RetakeGraph

/// Draws results over an image: the facts of all other parts of a join over its first frame.
///
/// Boxes are in the pixels of that frame; missing parts are skipped. The output is a separate image
/// in the frame's format. A join without a frame fails with `overlay.noFrame`.
package struct Overlay: PureStage {
  package static let kind = "overlay"
  package static let summary = "draws boxes, labels, numbers and curves over the frame of a join"

  package init() {}

  package init(options: NoOptions) {}

  package func process(_ joined: Joined, _ context: StageContext) throws -> Frame {
    guard let frame = joined.values(Frame.self).first else {
      throw StageError(
        code: "overlay.noFrame", message: "no port received a frame to draw over")
    }
    return frame.drawing(OverlayLayout(OverlayImage(frame)).shapes(of: contents(of: joined)))
  }

  private func contents(of joined: Joined) -> [OverlayContent] {
    joined.parts.compactMap { part in
      // The first frame is the image to draw over; further frames cannot be drawn over it.
      guard let value = part.value, !(value is Frame) else { return nil }
      return OverlayContent(facts: value.facts, classNames: value.classNames)
    }
  }
}

extension PipelineValue {
  /// The class names of its detections.
  fileprivate var classNames: [String] {
    switch self {
    case let found as Detections: found.classNames
    case let items as Items: items.detections.classNames
    default: []
    }
  }
}
