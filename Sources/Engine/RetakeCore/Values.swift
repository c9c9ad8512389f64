/// A rectangle in pixels, in the frame's own coordinates: origin top left, y down.
public struct Box: Hashable, Sendable, Codable {
  /// The left edge. It may be negative, and may have a fraction.
  public var x: Double
  /// The top edge. It may be negative, and may have a fraction.
  public var y: Double
  /// `x + width` may be beyond the frame.
  public var width: Double
  /// `y + height` may be beyond the frame.
  public var height: Double

  /// All values are in pixels, not 0 to 1. None of them is checked.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// In square pixels.
  public var area: Double { width * height }
}

/// A label with its score.
public struct Classification: Hashable, Sendable, Codable {
  /// The name of the class.
  public var label: String
  /// Usually 0 to 1.
  public var score: Double

  /// `score` is not checked.
  public init(label: String, score: Double) {
    self.label = label
    self.score = score
  }
}

/// Something found in a frame.
///
/// ```swift
/// let box = Box(x: 12, y: 8.5, width: 40, height: 20)  // pixels of the stage's input
/// let plate = Detection(box: box, score: 0.9, classIndex: 1)
/// ```
public struct Detection: Hashable, Sendable, Codable {
  /// In pixels of the frame that the stage was given, also behind a crop or a resize.
  public var box: Box
  /// Usually 0 to 1.
  public var score: Double
  /// Index into the detector's class list.
  public var classIndex: Int
  /// The tracker's number for this object, the same in all frames; `nil` without a tracker.
  public var identity: Int?
  /// A classifier's labels for this detection.
  public var classes: [Classification]

  /// By default a detection of the first class, without an identity and without labels. `score` and
  /// `classIndex` are not checked.
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
///
/// ```swift
/// struct Plates: PureStage {
///   static let kind = "plates"
///
///   func process(_ frame: Frame, _ context: StageContext) -> Detections {
///     let box = Box(x: 12, y: 8.5, width: 40, height: 20)
///     let plate = Detection(box: box, score: 0.9, classIndex: 1)
///     return Detections([plate], classNames: ["car", "plate"])
///   }
/// }
/// ```
public struct Detections: Hashable, Sendable, Codable {
  /// In any order that is the same in each run; results are sorted before they are written and
  /// compared, unless the rule of the sink is `order: significant`.
  public var items: [Detection]
  /// Class names by `Detection.classIndex`.
  public var classNames: [String]

  /// `classNames` should be the same list for every frame. Class indices of `items` are not
  /// checked.
  public init(_ items: [Detection], classNames: [String]) {
    self.items = items
    self.classNames = classNames
  }
}

/// Labels for the whole frame, best first.
public struct Classes: Hashable, Sendable, Codable {
  /// Results have the labels in this order.
  public var items: [Classification]

  /// Keeps the order of `items`: the stage sorts them by score.
  public init(_ items: [Classification]) {
    self.items = items
  }
}

/// Named numbers, in the order of the stage.
public struct Scalars: Hashable, Sendable, Codable {
  /// One number with its name.
  public struct Entry: Hashable, Sendable, Codable {
    /// The name in results. A stage should use each name once per frame.
    public var name: String
    /// Rounded to the sink's `precision` in results; NaN and the infinities are kept.
    public var value: Double

    /// Any name and any number are allowed.
    public init(_ name: String, _ value: Double) {
      self.name = name
      self.value = value
    }
  }

  /// Results have the numbers in this order.
  public var entries: [Entry]

  /// Keeps the order of `entries`. Names should be unique: the subscript finds the first one.
  public init(_ entries: [Entry]) {
    self.entries = entries
  }

  /// The value of the first entry with this name; `nil` if there is none.
  public subscript(name: String) -> Double? { entries.first { $0.name == name }?.value }
}

/// Samples at an even rate.
public struct Waveform: Hashable, Sendable, Codable {
  /// The name in results.
  public var name: String
  /// Samples per second.
  public var rate: Double
  /// The earliest first, `1 / rate` seconds apart, in a unit of the stage's choice.
  public var samples: [Double]

  /// `rate` is in samples per second; none of the values is checked.
  public init(name: String, rate: Double, samples: [Double]) {
    self.name = name
    self.rate = rate
    self.samples = samples
  }
}

/// A dense array of 32-bit floats, row-major.
public struct Tensor: Hashable, Sendable, Codable {
  /// The sizes of the dimensions, outermost first. Empty for a single number.
  public var shape: [Int]
  /// The last dimension changes fastest. Results contain a digest in place of the elements.
  public var elements: [Float]

  /// Ends the process if the product of `shape` is not the number of elements.
  public init(shape: [Int], elements: [Float]) {
    requirement(shape.reduce(1, *) == elements.count, "the shape counts the elements")
    self.shape = shape
    self.elements = elements
  }
}

/// Bytes whose meaning is only known to their producer.
public struct Bytes: Hashable, Sendable, Codable {
  /// The kind in results, next to the digest.
  public var name: String
  /// Results contain a digest of name and bytes in place of the bytes.
  public var content: [UInt8]

  /// Neither argument is checked; `content` may be empty.
  public init(name: String, content: [UInt8]) {
    self.name = name
    self.content = content
  }
}

/// What a results file contains for an image: its format and its digest, not its pixels.
public struct FramePrint: Hashable, Sendable, Codable {
  /// Pixels of the stored image, before any rotation.
  public var width: Int
  /// Pixels of the stored image, before any rotation.
  public var height: Int
  /// The pixel format as in documents, such as `I420` or `GRAY8`.
  public var format: String
  /// `limited` or `full`.
  public var range: String
  /// `bt601`, `bt709`, `bt2020`; `identity` for gray and for RGB.
  public var matrix: String
  /// XXH3-128 of format, size, range, matrix and visible bytes: `Frame.digest`.
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

/// One fact that a sink received, before it is rounded and written as a line.
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
