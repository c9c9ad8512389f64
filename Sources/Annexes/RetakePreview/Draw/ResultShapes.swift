import RetakeCore
import RetakeStages

/// The shapes of a result over an image in a window. They are laid out in window pixels, so that
/// text is sharp at any scale of the image.
struct ResultShapes {
  let fit: ImageFit

  /// - Parameter ageNanoseconds: How much older the result's frame is than the frame that is shown.
  func shapes(of result: PreviewResult, ageNanoseconds: Int64?) -> [OverlayShape] {
    let area = fit.unturned
    let across = Double(area.width) / Double(fit.width)
    let down = Double(area.height) / Double(fit.height)
    let contents = result.outcomes.enumerated().compactMap { index, outcome -> OverlayContent? in
      guard case .facts(let facts) = outcome.content else { return nil }
      return OverlayContent(
        facts: facts.map { $0.scaled(across, down) },
        classNames: result.classNames.indices.contains(index) ? result.classNames[index] : [],
        ageNanoseconds: ageNanoseconds)
    }
    return OverlayLayout(
      OverlayImage(
        width: area.width, height: area.height, rotationDegrees: fit.degrees,
        isMirrored: fit.isMirrored)
    ).shapes(of: contents)
  }
}

extension ResultFact {
  fileprivate func scaled(_ across: Double, _ down: Double) -> ResultFact {
    guard across != 1 || down != 1 else { return self }
    func scaled(_ box: Box) -> Box {
      Box(x: box.x * across, y: box.y * down, width: box.width * across, height: box.height * down)
    }
    switch self {
    case .detection(var detection):
      detection.box = scaled(detection.box)
      return .detection(detection)
    case .observation(let item): return .observation(item.mapPositions(scaled) ?? item)
    default: return self
    }
  }
}
