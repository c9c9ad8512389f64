import Foundation
import RetakeCore

/// Encodes a stage's output to bytes, and decodes it.
package struct ValueForm: Sendable {
  package let encode: @Sendable (any PipelineValue) -> [UInt8]?
  package let decode: @Sendable (ArraySlice<UInt8>) throws -> any PipelineValue

  /// `nil` for values that contain pixels or other values.
  package init?(_ type: any PipelineValue.Type) {
    if let type = type as? any StageValue.Type {
      self.init(ofStageValue: type)
    } else if let type = type as? any ByteFormed.Type {
      self.init(ofFormed: type)
    } else {
      return nil
    }
  }

  private init<Value: StageValue>(ofStageValue type: Value.Type) {
    encode = { ($0 as? Value)?.encoded() }
    decode = { try Value(decoding: Array($0)) }
  }

  private init<Value: ByteFormed>(ofFormed type: Value.Type) {
    encode = {
      guard let value = $0 as? Value else { return nil }
      var writer = ByteWriter()
      value.write(to: &writer)
      return writer.bytes
    }
    decode = {
      var reader = ByteReader($0)
      let value = try Value(reading: &reader)
      // Bytes that are left belong to another form of the value, which must be computed again.
      try reader.end()
      return value
    }
  }
}

/// A built-in value with a lossless form in bytes.
protocol ByteFormed: PipelineValue {
  func write(to writer: inout ByteWriter)
  init(reading reader: inout ByteReader) throws
}

extension Detections: ByteFormed {
  func write(to writer: inout ByteWriter) {
    writer.append(classNames.count)
    for name in classNames { writer.append(name) }
    writer.append(items.count)
    for item in items {
      for number in [item.box.x, item.box.y, item.box.width, item.box.height, item.score] {
        writer.append(number)
      }
      writer.append(item.classIndex)
      // A separate flag, because any integer may be an identity.
      writer.append(item.identity == nil ? 0 : 1)
      writer.append(item.identity ?? 0)
      Classes(item.classes).write(to: &writer)
    }
  }

  init(reading reader: inout ByteReader) throws {
    var names: [String] = []
    for _ in 0..<(try reader.count()) { names.append(try reader.text()) }
    var items: [Detection] = []
    for _ in 0..<(try reader.count()) {
      let box = Box(
        x: try reader.double(), y: try reader.double(), width: try reader.double(),
        height: try reader.double())
      let (score, index) = (try reader.double(), try reader.integer())
      let (hasIdentity, identity) = (try reader.integer(), try reader.integer())
      items.append(
        Detection(
          box: box, score: score, classIndex: index, identity: hasIdentity == 1 ? identity : nil,
          classes: try Classes(reading: &reader).items))
    }
    self.init(items, classNames: names)
  }
}

extension Classes: ByteFormed {
  func write(to writer: inout ByteWriter) {
    writer.append(items.count)
    for item in items {
      writer.append(item.label)
      writer.append(item.score)
    }
  }

  init(reading reader: inout ByteReader) throws {
    var items: [Classification] = []
    for _ in 0..<(try reader.count()) {
      items.append(Classification(label: try reader.text(), score: try reader.double()))
    }
    self.init(items)
  }
}

extension Scalars: ByteFormed {
  func write(to writer: inout ByteWriter) {
    writer.append(entries.count)
    for entry in entries {
      writer.append(entry.name)
      writer.append(entry.value)
    }
  }

  init(reading reader: inout ByteReader) throws {
    var entries: [Scalars.Entry] = []
    for _ in 0..<(try reader.count()) {
      entries.append(Scalars.Entry(try reader.text(), try reader.double()))
    }
    self.init(entries)
  }
}

extension Waveform: ByteFormed {
  func write(to writer: inout ByteWriter) {
    writer.append(name)
    writer.append(rate)
    writer.append(samples.count)
    for sample in samples { writer.append(sample) }
  }

  init(reading reader: inout ByteReader) throws {
    let (name, rate) = (try reader.text(), try reader.double())
    var samples: [Double] = []
    for _ in 0..<(try reader.count()) { samples.append(try reader.double()) }
    self.init(name: name, rate: rate, samples: samples)
  }
}

extension Tensor: ByteFormed {
  func write(to writer: inout ByteWriter) {
    writer.append(shape.count)
    for length in shape { writer.append(length) }
    writer.append(elements.count)
    for element in elements { writer.append(UInt64(element.bitPattern)) }
  }

  init(reading reader: inout ByteReader) throws {
    var shape: [Int] = []
    for _ in 0..<(try reader.count()) { shape.append(try reader.integer()) }
    var elements: [Float] = []
    for _ in 0..<(try reader.count()) {
      elements.append(Float(bitPattern: UInt32(truncatingIfNeeded: try reader.word())))
    }
    // `Tensor.init` ends the process if the shape does not count the elements, and the bytes may be
    // damaged.
    var product = 1
    for length in shape {
      let (next, isLarge) = product.multipliedReportingOverflow(by: length)
      guard length >= 0, !isLarge else { throw ByteReader.Mismatch() }
      product = next
    }
    guard product == elements.count else { throw ByteReader.Mismatch() }
    self.init(shape: shape, elements: elements)
  }
}

extension Observations: ByteFormed {
  func write(to writer: inout ByteWriter) {
    writer.append(items.count)
    for item in items {
      writer.append(item.label)
      writer.append(item.score)
      // A separate flag, because any integer may be an identity.
      writer.append(item.identity == nil ? 0 : 1)
      writer.append(item.identity ?? 0)
      item.content.write(to: &writer)
    }
  }

  init(reading reader: inout ByteReader) throws {
    var items: [Observation] = []
    for _ in 0..<(try reader.count()) {
      let (label, score) = (try reader.text(), try reader.double())
      let (hasIdentity, identity) = (try reader.integer(), try reader.integer())
      items.append(
        Observation(
          try Observation.Content(reading: &reader), label: label, score: score,
          identity: hasIdentity == 1 ? identity : nil))
    }
    self.init(items)
  }
}

extension Observation.Content {
  fileprivate func write(to writer: inout ByteWriter) {
    switch self {
    case .mask(let mask):
      for number in [0, mask.width, mask.height, mask.runs.count] + mask.runs {
        writer.append(number)
      }
    case .points(let points):
      writer.append(1)
      writer.append(points.points.count)
      for point in points.points {
        writer.append(point.name)
        for value in [point.x, point.y, point.score] { writer.append(value) }
      }
      writer.append(points.bones.count)
      for bone in points.bones {
        writer.append(bone.from)
        writer.append(bone.to)
      }
    case .polyline(let line):
      writer.append(4)
      writer.append(line.isClosed ? 1 : 0)
      writer.append(line.vertices.count)
      for vertex in line.vertices {
        writer.append(vertex.x)
        writer.append(vertex.y)
      }
    case .image(let array):
      for number in [5, array.width, array.height, array.channels] { writer.append(number) }
      writer.append(array.element.rawValue)
      writer.append(array.bytes ?? [])
    case .embedding(let vector):
      writer.append(2)
      writer.append(vector.count)
      for element in vector { writer.append(UInt64(element.bitPattern)) }
    case .json(let value):
      writer.append(3)
      writer.append(value.canonicalText)
    }
  }

  fileprivate init(reading reader: inout ByteReader) throws {
    switch try reader.integer() {
    case 0:
      let (width, height) = (try reader.integer(), try reader.integer())
      var runs: [Int] = []
      for _ in 0..<(try reader.count()) { runs.append(try reader.integer()) }
      guard let mask = Mask(width: width, height: height, runs: runs) else {
        throw ByteReader.Mismatch()
      }
      self = .mask(mask)
    case 1:
      var points = KeyPoints([])
      for _ in 0..<(try reader.count()) {
        let name = try reader.text()
        points.points.append(
          KeyPoint(
            name, x: try reader.double(), y: try reader.double(), score: try reader.double()))
      }
      for _ in 0..<(try reader.count()) {
        points.bones.append(KeyPoints.Bone(try reader.integer(), try reader.integer()))
      }
      self = .points(points)
    case 2:
      var vector: [Float] = []
      for _ in 0..<(try reader.count()) {
        vector.append(Float(bitPattern: UInt32(truncatingIfNeeded: try reader.word())))
      }
      self = .embedding(vector)
    case 4:
      let isClosed = try reader.integer() == 1
      var vertices: [SIMD2<Double>] = []
      for _ in 0..<(try reader.count()) {
        vertices.append(SIMD2(try reader.double(), try reader.double()))
      }
      self = .polyline(Polyline(vertices, isClosed: isClosed))
    case 5:
      let (width, height) = (try reader.integer(), try reader.integer())
      let channels = try reader.integer()
      guard let element = PixelArray.Element(rawValue: try reader.text()),
        let array = PixelArray(
          width: width, height: height, channels: channels, element: element,
          bytes: try reader.content())
      else { throw ByteReader.Mismatch() }
      self = .image(array)
    case 3: self = .json(try JSONValue(parsing: Data(try reader.text().utf8)))
    default: throw ByteReader.Mismatch()
    }
  }
}

extension Bytes: ByteFormed {
  func write(to writer: inout ByteWriter) {
    writer.append(name)
    writer.append(content)
  }

  init(reading reader: inout ByteReader) throws {
    self.init(name: try reader.text(), content: try reader.content())
  }
}
