/// The lines of one frame at one sink, by their kind: as JSON has them.
struct FactGroups {
  struct Label {
    var label: String
    var score: FixedDecimal
  }

  struct Tensor {
    var type: String
    var shape: [Int]
    var digest: Digest128
  }

  struct Wave {
    var name: String
    var rate: FixedDecimal
    var samples: [FixedDecimal]
  }

  var detections: [(line: DetectionLine, labels: [Label])] = []
  /// Of the whole frame.
  var labels: [Label] = []
  var pictures: [FramePrint] = []
  var scalars: [(name: String, value: FixedDecimal)] = []
  var tensors: [Tensor] = []
  var texts: [(name: String, text: String)] = []
  var values: [(kind: String, digest: Digest128)] = []
  var waveforms: [Wave] = []

  mutating func add(_ line: ResultLine) {
    switch line {
    case .detection(let detection): detections.append((detection, []))
    case .classification(let detection, let label, let score):
      let label = Label(label: label, score: score)
      if let detection { detections[detection].labels.append(label) } else { labels.append(label) }
    case .scalar(let name, let value): scalars.append((name, value))
    case .picture(let print): pictures.append(print)
    case .tensor(let type, let shape, let digest):
      tensors.append(Tensor(type: type, shape: shape, digest: digest))
    case .waveform(let name, let rate, let samples):
      waveforms.append(Wave(name: name, rate: rate, samples: samples))
    case .text(let name, let text): texts.append((name, text))
    case .user(let kind, let digest): values.append((kind, digest))
    case .ended: preconditionFailure("what ended has no facts")
    }
  }
}

extension TextBuffer {
  mutating func append(
    json detection: DetectionLine, labels: [FactGroups.Label], classNames: [String]
  ) {
    append("{\"box\":")
    append(jsonArray: [detection.x, detection.y, detection.width, detection.height]) {
      $0.append(json: $1)
    }
    if classNames.indices.contains(detection.classIndex) {
      append(",\"class\":")
      append(json: classNames[detection.classIndex])
    }
    append(",\"classIndex\":")
    append(detection.classIndex)
    if let identity = detection.identity {
      append(",\"identity\":")
      append(identity)
    }
    if !labels.isEmpty {
      append(",\"labels\":")
      append(jsonArray: labels) { $0.append(json: $1) }
    }
    append(",\"score\":")
    append(json: detection.score)
    append(UInt8(ascii: "}"))
  }

  mutating func append(json label: FactGroups.Label) {
    append("{\"label\":")
    append(json: label.label)
    append(",\"score\":")
    append(json: label.score)
    append(UInt8(ascii: "}"))
  }

  mutating func append(json print: FramePrint) {
    append("{\"digest\":")
    append(json: print.digest)
    append(",\"format\":")
    append(json: print.format)
    append(",\"height\":")
    append(print.height)
    append(",\"matrix\":")
    append(json: print.matrix)
    append(",\"range\":")
    append(json: print.range)
    append(",\"width\":")
    append(print.width)
    append(UInt8(ascii: "}"))
  }

  mutating func append(json tensor: FactGroups.Tensor) {
    append("{\"digest\":")
    append(json: tensor.digest)
    append(",\"shape\":")
    append(jsonArray: tensor.shape) { $0.append($1) }
    append(",\"type\":")
    append(json: tensor.type)
    append(UInt8(ascii: "}"))
  }

  mutating func append(json wave: FactGroups.Wave) {
    append("{\"name\":")
    append(json: wave.name)
    append(",\"rate\":")
    append(json: wave.rate)
    append(",\"samples\":")
    append(jsonArray: wave.samples) { $0.append(json: $1) }
    append(UInt8(ascii: "}"))
  }

  mutating func append(jsonName name: String, value: FixedDecimal) {
    append("{\"name\":")
    append(json: name)
    append(",\"value\":")
    append(json: value)
    append(UInt8(ascii: "}"))
  }

  mutating func append(jsonName name: String, text: String) {
    append("{\"name\":")
    append(json: name)
    append(",\"text\":")
    append(json: text)
    append(UInt8(ascii: "}"))
  }

  mutating func append(jsonKind kind: String, digest: Digest128) {
    append("{\"digest\":")
    append(json: digest)
    append(",\"kind\":")
    append(json: kind)
    append(UInt8(ascii: "}"))
  }
}
