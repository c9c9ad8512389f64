extension ResultLine {
  /// Parses the part after the letter; `nil` for any other form.
  init?(letter: UInt8, _ cursor: inout ByteCursor) {
    let line: ResultLine? =
      switch letter {
      case UInt8(ascii: "D"): DetectionLine(&cursor).map { .detection($0) }
      case UInt8(ascii: "C"): Self.classification(&cursor)
      case UInt8(ascii: "V"): Self.scalar(&cursor)
      case UInt8(ascii: "P"): Self.picture(&cursor)
      case UInt8(ascii: "N"): Self.tensor(&cursor)
      case UInt8(ascii: "W"): Self.waveform(&cursor)
      case UInt8(ascii: "T"): Self.text(&cursor)
      case UInt8(ascii: "U"): Self.user(&cursor)
      case UInt8(ascii: "X"): Self.ended(&cursor)
      default: ObservationLine(letter: letter, &cursor).map { .observation($0) }
      }
    guard let line else { return nil }
    self = line
  }

  private static let equals = UInt8(ascii: "=")

  private static func classification(_ cursor: inout ByteCursor) -> ResultLine? {
    var detection: Int?
    if !cursor.skip(UInt8(ascii: "-")) {
      guard let number = cursor.integer() else { return nil }
      detection = number
    }
    guard cursor.skipSpace(), let label = cursor.word(before: equals), cursor.skip(equals),
      let score = cursor.decimal()
    else { return nil }
    return .classification(detection: detection, label: label, score: score)
  }

  private static func scalar(_ cursor: inout ByteCursor) -> ResultLine? {
    guard let name = cursor.word(before: equals), cursor.skip(equals),
      let value = cursor.decimal()
    else { return nil }
    return .scalar(name: name, value: value)
  }

  private static func picture(_ cursor: inout ByteCursor) -> ResultLine? {
    guard let width = cursor.integer(), cursor.skip(UInt8(ascii: "x")),
      let height = cursor.integer(), cursor.skipSpace(), let format = cursor.word(),
      cursor.skipSpace(), let range = cursor.word(), cursor.skipSpace(),
      let matrix = cursor.word(), cursor.skipSpace(), let digest = cursor.digest()
    else { return nil }
    return .picture(
      FramePrint(
        width: width, height: height, format: format, range: range, matrix: matrix,
        digest: digest))
  }

  private static func tensor(_ cursor: inout ByteCursor) -> ResultLine? {
    guard let type = cursor.word(), cursor.skipSpace() else { return nil }
    var shape: [Int] = []
    if !cursor.skip(UInt8(ascii: "-")) {
      repeat {
        guard let side = cursor.integer() else { return nil }
        shape.append(side)
      } while cursor.skip(UInt8(ascii: "x"))
    }
    guard cursor.skipSpace(), let digest = cursor.digest() else { return nil }
    return .tensor(type: type, shape: shape, digest: digest)
  }

  private static func waveform(_ cursor: inout ByteCursor) -> ResultLine? {
    guard let name = cursor.word(), cursor.skipSpace(), let rate = cursor.decimal(),
      cursor.skipSpace(), let count = cursor.integer(), count >= 0
    else { return nil }
    var samples: [FixedDecimal] = []
    while cursor.skipSpace() {
      guard let sample = cursor.decimal() else { return nil }
      samples.append(sample)
    }
    return samples.count == count ? .waveform(name: name, rate: rate, samples: samples) : nil
  }

  private static func text(_ cursor: inout ByteCursor) -> ResultLine? {
    guard let name = cursor.word(), cursor.skipSpace() else { return nil }
    // The string is the last field of its line, because it may contain spaces.
    return unquoted(cursor.rest()).map { .text(name: name, text: $0) }
  }

  private static func user(_ cursor: inout ByteCursor) -> ResultLine? {
    guard let kind = cursor.word(), cursor.skipSpace(), let digest = cursor.digest() else {
      return nil
    }
    return .user(kind: kind, digest: digest)
  }

  private static func ended(_ cursor: inout ByteCursor) -> ResultLine? {
    guard let word = cursor.word(), cursor.skipSpace(), let reason = cursor.word(),
      cursor.skipSpace(), let node = cursor.word(),
      let fate = FrameFate(word: word, reason: reason)
    else { return nil }
    return .ended(fate, node: node)
  }
}

extension DetectionLine {
  /// Parses the part after `D `; `nil` for any other form.
  init?(_ cursor: inout ByteCursor) {
    // With the colon: `-5:` is a negative identity.
    if cursor.skip("-:") {
      identity = nil
    } else {
      guard let number = cursor.integer(), cursor.skip(UInt8(ascii: ":")) else { return nil }
      identity = number
    }
    guard let classIndex = cursor.integer(), cursor.skipSpace(), let x = cursor.decimal(),
      cursor.skipSpace(), let y = cursor.decimal(), cursor.skipSpace(),
      let width = cursor.decimal(), cursor.skipSpace(), let height = cursor.decimal(),
      cursor.skipSpace(), let score = cursor.decimal()
    else { return nil }
    self.classIndex = classIndex
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
    self.score = score
  }
}

extension ByteCursor {
  fileprivate mutating func skip(_ text: StaticString) -> Bool {
    // A failed attempt must not move the cursor: the caller tries another form at the same
    // position.
    var copy = self
    for index in 0..<text.utf8CodeUnitCount where !copy.skip(text.utf8Start[index]) {
      return false
    }
    self = copy
    return true
  }
}

/// The content of an ASCII JSON string with quotes; `nil` for any other form.
private func unquoted(_ quoted: some Collection<UInt8>) -> String? {
  guard quoted.count >= 2, quoted.first == 0x22 else { return nil }
  var units: [UInt16] = []
  var rest = quoted.dropFirst().makeIterator()
  while let byte = rest.next() {
    switch byte {
    // Half of a surrogate pair is not a string, and was not written by `append(quoted:)`.
    case 0x22: return rest.next() == nil ? String(validating: units, as: UTF16.self) : nil
    case 0x5c:
      guard let unit = escaped(&rest) else { return nil }
      units.append(unit)
    case 0x20..<0x7f: units.append(UInt16(byte))
    default: return nil
    }
  }
  return nil
}

private func escaped(_ rest: inout some IteratorProtocol<UInt8>) -> UInt16? {
  switch rest.next() {
  case UInt8(ascii: "\""): return 0x22
  case UInt8(ascii: "\\"): return 0x5c
  case UInt8(ascii: "n"): return 0x0a
  case UInt8(ascii: "r"): return 0x0d
  case UInt8(ascii: "t"): return 0x09
  case UInt8(ascii: "u"):
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = rest.next(), let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
        return nil
      }
      value = value << 4 | UInt16(digit)
    }
    return value
  default: return nil
  }
}
