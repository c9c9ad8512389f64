/// A rectangle in pixels, in the frame's own coordinates: origin top left, y down.
public struct Box: Hashable, Sendable, Codable {
  public var x: Double
  public var y: Double
  public var width: Double
  public var height: Double

  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  public var area: Double { width * height }
}

/// A label with its score.
public struct Classification: Hashable, Sendable, Codable {
  public var label: String
  /// Usually 0 to 1.
  public var score: Double

  public init(label: String, score: Double) {
    self.label = label
    self.score = score
  }
}

/// Something found in a frame.
public struct Detection: Hashable, Sendable, Codable {
  public var box: Box
  /// Usually 0 to 1.
  public var score: Double
  /// Index into the detector's class list.
  public var classIndex: Int
  /// The tracker's number for this object, the same in all frames; `nil` without a tracker.
  public var identity: Int?
  /// A classifier's labels for this detection.
  public var classes: [Classification]

  public init(
    box: Box, score: Double, classIndex: Int = 0, identity: Int? = nil,
    classes: [Classification] = []
  ) {
    self.box = box
    self.score = score
    self.classIndex = classIndex
    self.identity = identity
    self.classes = classes
  }
}

/// All detections of one frame, with the names of the detector's classes.
public struct Detections: Hashable, Sendable, Codable {
  public var items: [Detection]
  /// Class names by `Detection.classIndex`.
  public var classNames: [String]

  public init(_ items: [Detection], classNames: [String]) {
    self.items = items
    self.classNames = classNames
  }
}

/// Labels for the whole frame, best first.
public struct Classes: Hashable, Sendable, Codable {
  public var items: [Classification]

  public init(_ items: [Classification]) {
    self.items = items
  }
}

/// Named numbers, in the order of the stage.
public struct Scalars: Hashable, Sendable, Codable {
  public struct Entry: Hashable, Sendable, Codable {
    public var name: String
    public var value: Double

    public init(_ name: String, _ value: Double) {
      self.name = name
      self.value = value
    }
  }

  public var entries: [Entry]

  public init(_ entries: [Entry]) {
    self.entries = entries
  }

  public subscript(name: String) -> Double? { entries.first { $0.name == name }?.value }
}

/// Samples at an even rate.
public struct Waveform: Hashable, Sendable, Codable {
  public var name: String
  /// Samples per second.
  public var rate: Double
  public var samples: [Double]

  public init(name: String, rate: Double, samples: [Double]) {
    self.name = name
    self.rate = rate
    self.samples = samples
  }
}

/// A dense array of 32-bit floats, row-major.
public struct Tensor: Hashable, Sendable, Codable {
  public var shape: [Int]
  public var elements: [Float]

  public init(shape: [Int], elements: [Float]) {
    requirement(shape.reduce(1, *) == elements.count, "the shape counts the elements")
    self.shape = shape
    self.elements = elements
  }
}

/// Bytes whose meaning is only known to their producer.
public struct Bytes: Hashable, Sendable, Codable {
  public var name: String
  public var content: [UInt8]

  public init(name: String, content: [UInt8]) {
    self.name = name
    self.content = content
  }
}

/// What a results file contains for an image: its format and its digest, not its pixels.
public struct FramePrint: Hashable, Sendable, Codable {
  public var width: Int
  public var height: Int
  public var format: String
  public var range: String
  public var matrix: String
  public var digest: Digest128

  package init(
    width: Int, height: Int, format: String, range: String, matrix: String, digest: Digest128
  ) {
    self.width = width
    self.height = height
    self.format = format
    self.range = range
    self.matrix = matrix
    self.digest = digest
  }
}

/// One fact that a sink received, before it is quantised and written as a line.
public enum ResultFact: Hashable, Sendable {
  case detection(Detection)
  /// Labels for the whole frame.
  case classification(Classification)
  case scalar(name: String, value: Double)
  case frame(FramePrint)
  case tensor(type: String, shape: [Int], digest: Digest128)
  case waveform(Waveform)
  case text(name: String, text: String)
  case user(kind: String, digest: Digest128)
}
