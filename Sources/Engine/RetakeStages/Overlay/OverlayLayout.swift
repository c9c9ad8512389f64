import RetakeCore

/// Lays out an overlay: a box with its label for each detection, outlines of masks, key points with
/// their bones, a list of numbers, texts, classes and JSON at the top left, the age at the top
/// right, waveforms at the bottom.
package struct OverlayLayout: Sendable {
  /// Points per second of a waveform's line.
  package static let waveformRate = 240.0
  private static let linesMax = 24
  private static let letters = 48
  /// Maximum number of points of one waveform; only the end of longer waveforms is shown.
  private static let pointsMax = 4_096

  package let picture: OverlayImage
  /// Size of a glyph's pixel, in pixels.
  package let scale: Int

  package init(_ picture: OverlayImage) {
    self.picture = picture
    // Text keeps its share of the image: factor 1 at 480 pixels, and 2 from 720 on.
    scale = max(1, (min(picture.uprightWidth, picture.uprightHeight) + 240) / 480)
  }

  private var thickness: Int { 2 * scale }
  private var lineHeight: Int { GlyphAtlas.height * scale }

  /// The shapes, from bottom to top.
  package func shapes(of contents: [OverlayContent]) -> [OverlayShape] {
    var shapes: [OverlayShape] = []
    var lines: [String] = []
    var waveforms: [Waveform] = []
    for content in contents {
      for fact in content.facts {
        switch fact {
        case .detection(let detection): shapes += box(detection, content.classNames)
        case .classification(let item): lines.append("\(item.label) \(Self.text(item.score))")
        case .scalar(let name, let value): lines.append("\(name) \(Self.text(value))")
        case .text(let name, let text): lines.append("\(name) \(text)")
        case .waveform(let waveform): waveforms.append(waveform)
        case .observation(let item): shapes += drawing(item, lines: &lines)
        // These have no form that could be drawn.
        case .frame, .tensor, .user: break
        }
      }
    }
    for (index, waveform) in waveforms.enumerated() {
      shapes += curve(waveform, index: index, of: waveforms.count)
    }
    // After boxes and curves, so that text is on top.
    shapes += list(lines)
    if let age = contents.compactMap(\.ageNanoseconds).max() { shapes += self.age(age) }
    return shapes
  }

  // MARK: Parts

  private func box(_ detection: Detection, _ names: [String]) -> [OverlayShape] {
    let box = picture.upright(detection.box)
    guard [box.x, box.y, box.width, box.height].allSatisfy(\.isFinite) else { return [] }
    // With identities, an object keeps its color from frame to frame.
    let color = OverlayColor.ofClass(detection.identity ?? detection.classIndex)
    let known = names.indices.contains(detection.classIndex) ? names[detection.classIndex] : nil
    var label = "\(known ?? "class \(detection.classIndex)") \(Self.text(detection.score))"
    if let identity = detection.identity { label += " #\(identity)" }
    if let best = detection.classes.first { label += " \(best.label) \(Self.text(best.score))" }
    // There may be no space above the box; the label is then inside it.
    let top = Self.pixel(box.y) - lineHeight
    return [OverlayShape(.outline(box, thickness: thickness), color)]
      + line(label, x: Self.pixel(box.x), y: top < 0 ? Self.pixel(box.y) : top, color)
  }

  /// Points and bones with a label at the upper left; a mask is drawn as its outline.
  private func drawing(_ item: Observation, lines: inout [String]) -> [OverlayShape] {
    guard case .points(let points)? = item.mapPositions(picture.upright)?.content else {
      if case .json(let value) = item.content {
        lines.append("\(item.label) \(value.canonicalText)")
      }
      return []
    }
    let places = points.points.map { OverlayShape.Point(x: $0.x, y: $0.y) }
    guard let left = places.map(\.x).min(), let top = places.map(\.y).min(),
      places.allSatisfy({ $0.x.isFinite && $0.y.isFinite })
    else { return [] }
    let color = item.identity.map { OverlayColor.ofClass($0) } ?? .ofClass(0)
    var shapes = points.bones.compactMap { bone -> OverlayShape? in
      guard places.indices.contains(bone.from), places.indices.contains(bone.to) else { return nil }
      return OverlayShape(.line([places[bone.from], places[bone.to]], thickness: thickness), color)
    }
    for (point, place) in zip(points.points, places) where !point.name.isEmpty {
      let side = Double(2 * thickness)
      let dot = Box(x: place.x - side / 2, y: place.y - side / 2, width: side, height: side)
      shapes.append(OverlayShape(.fill(dot), color))
    }
    var label = "\(item.label) \(Self.text(item.score))"
    if let identity = item.identity { label += " #\(identity)" }
    return shapes + line(label, x: Self.pixel(left), y: Self.pixel(top) - lineHeight, color)
  }

  private func list(_ lines: [String]) -> [OverlayShape] {
    let shown = lines.prefix(Self.linesMax)
    return shown.enumerated().flatMap { index, text in
      line(text, x: scale * 4, y: scale * 4 + index * lineHeight, .white)
    }
  }

  private func age(_ nanoseconds: Int64) -> [OverlayShape] {
    let text = "\(nanoseconds / 1_000_000) ms"
    let left = picture.uprightWidth - GlyphAtlas.width(of: text, scale: scale) - scale * 8
    return line(text, x: left, y: scale * 4, .white)
  }

  /// Text on a shaded background, moved so that it stays inside the image.
  private func line(_ text: String, x: Int, y: Int, _ color: OverlayColor) -> [OverlayShape] {
    let shown = String(text.prefix(Self.letters))
    let width = GlyphAtlas.width(of: shown, scale: scale) + 4 * scale
    // The left end has priority: a label wider than the image is cut at its end.
    let left = max(0, min(x, picture.uprightWidth - width))
    let top = max(0, min(y, picture.uprightHeight - lineHeight))
    let ground = Box(
      x: Double(left), y: Double(top), width: Double(width), height: Double(lineHeight))
    return [
      OverlayShape(.fill(ground), .shade),
      OverlayShape(.text(shown, x: left + 2 * scale, y: top, scale: scale), color),
    ]
  }

  /// A separate strip for each waveform, with an eighth of the image's height.
  private func curve(_ waveform: Waveform, index: Int, of count: Int) -> [OverlayShape] {
    let points = Self.resampled(waveform)
    let height = Double(picture.uprightHeight / 8)
    let width = Double(picture.uprightWidth)
    let top = Double(picture.uprightHeight) - height * Double(count - index)
    let low = points.min() ?? 0
    // A constant waveform must not divide by zero.
    let reach = max((points.max() ?? 0) - low, .leastNormalMagnitude)
    let step = width / Double(max(1, points.count - 1))
    // Less the line's thickness, so that the lowest point stays inside its strip.
    let line = points.enumerated().map { place, value in
      OverlayShape.Point(
        x: Double(place) * step,
        y: top + (height - Double(thickness)) * (1 - (value - low) / reach))
    }
    let ground = Box(x: 0, y: top, width: width, height: height)
    return [
      OverlayShape(.fill(ground), .shade),
      OverlayShape(.line(line, thickness: thickness), .ofClass(index + 1)),
      OverlayShape(
        .text(
          String(waveform.name.prefix(Self.letters)), x: 2 * scale, y: Self.pixel(top),
          scale: scale), .white),
    ]
  }

  /// The samples at `waveformRate`, interpolated linearly; samples that are not finite are skipped.
  static func resampled(_ waveform: Waveform) -> [Double] {
    let samples = waveform.samples.filter(\.isFinite)
    guard samples.count > 1, waveform.rate > 0, waveform.rate.isFinite else { return samples }
    let step = waveform.rate / waveformRate
    let wanted = Double(samples.count - 1) / step
    let count = Int(min(wanted, Double(pointsMax - 1)))
    let start = Double(samples.count - 1) - Double(count) * step
    return (0...count).map { index in
      let place = max(0, start + Double(index) * step)
      // Rounding may reach the last sample, which has no right neighbor.
      let left = min(Int(place), samples.count - 2)
      let share = place - Double(left)
      return samples[left] * (1 - share) + samples[left + 1] * share
    }
  }

  /// At most three decimals, the same in every locale.
  private static func text(_ value: Double) -> String {
    // Not with a format of Foundation, which could depend on the locale.
    let rounded = (value * 1_000).rounded() / 1_000
    guard let whole = Int64(exactly: rounded) else { return "\(rounded)" }
    return "\(whole)"
  }

  private static func pixel(_ value: Double) -> Int {
    // Int traps on a Double beyond its range, and a detector may return any number.
    Int(max(-1e6, min(1e6, value.isNaN ? 0 : value)).rounded())
  }
}
