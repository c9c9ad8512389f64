/// The lines of one frame at one sink, grouped by kind as in the JSON form.
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
  /// Labels of the frame, not of a detection.
  var labels: [Label] = []
  var observations: [ObservationLine] = []
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
      // The rounder writes each detection before its labels, so the index is valid.
      if let detection { detections[detection].labels.append(label) } else { labels.append(label) }
    case .scalar(let name, let value): scalars.append((name, value))
    case .picture(let print): pictures.append(print)
    case .tensor(let type, let shape, let digest):
      tensors.append(Tensor(type: type, shape: shape, digest: digest))
    case .waveform(let name, let rate, let samples):
      waveforms.append(Wave(name: name, rate: rate, samples: samples))
    case .text(let name, let text): texts.append((name, text))
    case .user(let kind, let digest): values.append((kind, digest))
    case .observation(let line): observations.append(line)
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
    // A stage may return an index outside its list of class names.
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
    append(jsonMembers: [
      "label": { $0.append(json: label.label) }, "score": { $0.append(json: label.score) },
    ])
  }

  mutating func append(json print: FramePrint) {
    append(jsonMembers: [
      "digest": { $0.append(json: print.digest) }, "format": { $0.append(json: print.format) },
      "height": { $0.append(print.height) }, "matrix": { $0.append(json: print.matrix) },
      "range": { $0.append(json: print.range) }, "width": { $0.append(print.width) },
    ])
  }

  mutating func append(json tensor: FactGroups.Tensor) {
    append(jsonMembers: [
      "digest": { $0.append(json: tensor.digest) },
      "shape": { $0.append(jsonArray: tensor.shape) { $0.append($1) } },
      "type": { $0.append(json: tensor.type) },
    ])
  }

  mutating func append(json wave: FactGroups.Wave) {
    append(jsonMembers: [
      "name": { $0.append(json: wave.name) }, "rate": { $0.append(json: wave.rate) },
      "samples": { $0.append(jsonArray: wave.samples) { $0.append(json: $1) } },
    ])
  }

  mutating func append(jsonName name: String, value: FixedDecimal) {
    append(jsonMembers: ["name": { $0.append(json: name) }, "value": { $0.append(json: value) }])
  }

  mutating func append(jsonName name: String, text: String) {
    append(jsonMembers: ["name": { $0.append(json: name) }, "text": { $0.append(json: text) }])
  }

  mutating func append(jsonKind kind: String, digest: Digest128) {
    append(jsonMembers: ["digest": { $0.append(json: digest) }, "kind": { $0.append(json: kind) }])
  }
}
