import RetakeCore

/// The facts of one frame and sink that are neither detections nor observations, each by its subject, so that an added
/// or a missing fact does not shift the others.
struct KeyedFacts {
  struct Key: Hashable {
    var letter: Character
    var name: String
    /// For labels: the detection that they belong to, by its index in the actual run.
    var detection: Int?
    /// Counts equal keys.
    var occurrence = 0

    init(_ line: ResultLine, detection: Int?) {
      self.detection = detection
      switch line {
      case .detection: (letter, name) = ("D", "")
      case .classification(_, let label, _): (letter, name) = ("C", label)
      case .scalar(let name, _): (letter, self.name) = ("V", name)
      case .picture: (letter, name) = ("P", "")
      case .tensor: (letter, name) = ("N", "")
      case .waveform(let name, _, _): (letter, self.name) = ("W", name)
      case .text(let name, _): (letter, self.name) = ("T", name)
      case .user(let kind, _): (letter, name) = ("U", kind)
      case .observation(let line): (letter, name) = (line.letter, line.label)
      case .ended: (letter, name) = ("X", "")
      }
    }

    var words: String {
      switch letter {
      case "C": "the label \(name)"
      case "P": "the image"
      case "N": "the tensor"
      case "W": "the waveform \(name)"
      case "T": "the text \(name)"
      case "U": "the value \(name)"
      default: name
      }
    }
  }

  typealias Entry = (key: Key, line: ResultLine)

  private(set) var entries: [Entry] = []
  private var lines: [Key: ResultLine] = [:]

  /// - Parameter partner: Maps the index of a golden detection to the index of the actual
  ///   detection. Labels of detections without a partner are left out.
  init(_ lines: [ResultLine], partner: (Int) -> Int?) {
    for line in lines {
      switch line {
      case .detection, .observation, .ended: continue
      case .classification(let detection?, _, _):
        guard let index = partner(detection) else { continue }
        add(line, Key(line, detection: index))
      default: add(line, Key(line, detection: nil))
      }
    }
  }

  private mutating func add(_ line: ResultLine, _ key: Key) {
    var key = key
    // Two facts of one name are kept apart, so that the n-th is compared with the n-th.
    while lines[key] != nil { key.occurrence += 1 }
    lines[key] = line
    entries.append((key, line))
  }

  subscript(key: Key) -> ResultLine? { lines[key] }

  var keys: [Key] { entries.map(\.key) }

  /// The label with the highest score, for each detection and for the frame; of equal scores, the
  /// first.
  var bestLabels: [(detection: Int?, best: Entry)] {
    var best: [(detection: Int?, best: Entry)] = []
    for entry in entries {
      guard case .classification(_, _, let score) = entry.line else { continue }
      guard let place = best.firstIndex(where: { $0.detection == entry.key.detection }) else {
        best.append((entry.key.detection, entry))
        continue
      }
      if case .classification(_, _, let highest) = best[place].best.line,
        score.units > highest.units
      {
        best[place].best = entry
      }
    }
    return best
  }
}
