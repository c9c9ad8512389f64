package import RetakeCore

/// The values of a frame at a sink that labels can be compared with.
package struct SinkValues: Hashable, Sendable {
  /// With their labels, in the order of the lines.
  package var detections: [Detection] = []
  /// The first number of each name.
  package var scalars: [String: Double] = [:]
  package var wasDelivered = true

  /// The values of a live run, before they are rounded.
  package init(_ facts: [ResultFact]) {
    for fact in facts {
      switch fact {
      case .detection(let detection): detections.append(detection)
      case .scalar(let name, let value): scalars[name] = scalars[name] ?? value
      case .classification, .frame, .tensor, .waveform, .text, .user, .observation: break
      }
    }
  }

  package init(_ lines: [ResultLine]) {
    for line in lines {
      switch line {
      case .detection(let line):
        detections.append(
          Detection(
            box: Box(
              x: line.x.value, y: line.y.value, width: line.width.value,
              height: line.height.value),
            score: line.score.value, classIndex: line.classIndex, identity: line.identity))
      case .classification(let index?, let label, let score):
        guard detections.indices.contains(index) else { continue }
        detections[index].classes.append(Classification(label: label, score: score.value))
      case .scalar(let name, let value): scalars[name] = scalars[name] ?? value.value
      case .ended: wasDelivered = false
      case .classification, .picture, .tensor, .waveform, .text, .user, .observation: break
      }
    }
  }
}
