import RetakeCore

/// Reads MOTChallenge text: a line for each box with `frame,id,x,y,width,height,confidence`, then
/// `class` (8 columns), `class,visibility` (9, annotations) or world coordinates (10, results).
struct MOTText {
  let file: String
  let firstFrame: Int

  func content(_ bytes: [UInt8]) throws -> StoredContent {
    var content = StoredContent()
    content.firstFrame = firstFrame
    var seen = SeenBoxes()
    var columns: Int?
    var number = 0
    for line in bytes.split(separator: 0x0a, omittingEmptySubsequences: false) {
      number += 1
      guard let found = try row(line, number, &columns) else { continue }
      if let twice = seen.note(found.detection, sequence: found.sequence) {
        throw StoredError.line(file, number, twice, advice: "Remove one of the lines")
      }
      content.add(found.detection, sequence: found.sequence, place: number)
    }
    return content
  }

  /// The box of a line; `nil` for an empty line.
  private func row(
    _ line: ArraySlice<UInt8>, _ number: Int, _ columns: inout Int?
  ) throws -> (sequence: Int, detection: Detection)? {
    guard !line.allSatisfy(\.isWhiteSpace) else { return nil }
    let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard (7...10).contains(fields.count) else {
      throw StoredError.line(
        file, number, "\(counted(fields.count, "column")), and a line has 7 to 10",
        advice: "Write frame,id,x,y,width,height,confidence in each line, with commas")
    }
    // A shorter line is a cut one, and with 9 columns the eighth is a class, with 10 it is not.
    guard columns ?? fields.count == fields.count else {
      throw StoredError.line(
        file, number, "\(fields.count) columns, and the lines before have \(columns ?? 0)")
    }
    columns = fields.count
    let numbers = try fields.map { try value($0, number) }
    let frame = try integer(numbers[0], "frame", number)
    let sequence = frame - firstFrame
    guard sequence >= 0, frame <= StoredOptions.frameMax else {
      throw StoredError.line(
        file, number,
        "the frame \(frame) is "
          + (sequence < 0
            ? "before the first frame, \(firstFrame)" : "above \(StoredOptions.frameMax)"),
        advice: frame == 0
          ? "If the file counts frames from 0, set the option 'firstFrame' to 0"
          : "Set the option 'firstFrame' to the number of the session's frame 0")
    }
    var detection = Detection(
      box: Box(x: numbers[2], y: numbers[3], width: numbers[4], height: numbers[5]),
      score: numbers[6])
    if fields.count < 10, fields.count > 7 {
      detection.classIndex = try integer(numbers[7], "class", number)
    }
    let identity = try integer(numbers[1], "id", number)
    guard identity >= -1 else {
      throw StoredError.line(file, number, "the id \(identity) is neither -1 nor 0 or more")
    }
    if identity >= 0 { detection.identity = identity }
    if let problem = detection.problem { throw StoredError.line(file, number, problem) }
    return (sequence, detection)
  }

  private func value(_ field: ArraySlice<UInt8>, _ number: Int) throws -> Double {
    var digits = field.drop(while: \.isWhiteSpace)
    while digits.last?.isWhiteSpace == true { digits = digits.dropLast() }
    let text = String(decoding: digits, as: UTF8.self)
    // Double's own parser also reads hexadecimal numbers, and `nan`, which no box has.
    guard text.utf8.allSatisfy(Self.isPart), let value = Double(text), value.isFinite else {
      throw StoredError.line(file, number, "'\(text.shortened)' is not a finite number")
    }
    return value
  }

  /// Files of NumPy write integers with decimals.
  private func integer(_ value: Double, _ column: String, _ number: Int) throws -> Int {
    guard value.magnitude < 0x1p53, let whole = Int(exactly: value) else {
      throw StoredError.line(file, number, "the \(column) \(value) is not an integer")
    }
    return whole
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }
}
