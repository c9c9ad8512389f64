import RetakeCore
package import RetakeMedia

/// The contents of one stream of a telemetry packet: samples of one sensor, and their names.
package struct TelemetryPayload {
  /// The device and the key of the values: a stream keeps them in every packet.
  struct Identity: Hashable {
    var device: String
    var key: String
  }

  var identity: Identity
  var unit: String
  var channels: [String]
  /// In the order in which they were measured; empty if the packet has no samples.
  var samples: [[Double]]
  /// Samples since the beginning of the recording, with these; nil if the stream does not count.
  var total: Int?

  /// The contents of all streams of a packet.
  ///
  /// - Throws: `TelemetryDamage`.
  package static func all(in packet: MediaPacket) throws -> [TelemetryPayload] {
    let walk = TelemetryWalk(bytes: packet.bytes)
    let reading = TelemetryStream(walk: walk)
    var payloads: [TelemetryPayload] = []
    try walk.eachStream { (device, items) in
      if let payload = try reading.payload(device: device, items) { payloads.append(payload) }
    }
    return payloads
  }
}

/// Reads the samples of a stream.
struct TelemetryStream {
  let walk: TelemetryWalk

  /// The most numbers of one sample; a stream with more is no sensor that stages read.
  static let channelsMax = 64
  /// Larger numbers of floating point are not counts.
  private static let totalMax = Double(1 << 53)

  /// - Returns: nil if the values are not numbers.
  func payload(
    device: String, _ items: [TelemetryItem]
  ) throws -> TelemetryPayload? {
    // The values are the last item; the items before it describe them.
    guard let values = items.last, !values.isList, values.key != "STMP", values.key != "TSMP" else {
      return nil
    }
    guard let types = try types(of: values, items), !types.isEmpty,
      types.count <= Self.channelsMax
    else { return nil }
    let scales = try scales(items, channels: types.count)
    // It counts up while a stream has no new values.
    let empty = items.first { $0.key == "EMPT" }
    let isEmpty =
      try empty.map { item in
        (try numbers(item).first ?? 0) != 0
      } ?? false
    let total = try items.first { $0.key == "TSMP" }.flatMap { try numbers($0).first }
    return TelemetryPayload(
      identity: .init(device: device, key: values.key), unit: unit(items),
      channels: TelemetryNames.channels(
        of: values.key, title: items.last { $0.key == "STNM" }.map(walk.letters) ?? "",
        count: types.count),
      samples: isEmpty ? [] : samples(values, types, scales),
      // A count that is negative or not exact is damage, and differences of counts must not overflow.
      total: total.flatMap { (0...Self.totalMax).contains($0) ? Int(exactly: $0) : nil })
  }

  /// The type of each number of a structure; nil if one is not a number.
  private func types(
    of values: TelemetryItem, _ items: [TelemetryItem]
  ) throws -> [UInt8]? {
    guard values.type == UInt8(ascii: "?") else {
      guard let bytes = TelemetryType.bytes(values.type) else { return nil }
      guard values.size % bytes == 0 else {
        throw TelemetryDamage(
          byte: values.start,
          problem: "\(values.key) has structures of \(values.size) bytes, and values of \(bytes)")
      }
      return [UInt8](repeating: values.type, count: values.size / bytes)
    }
    guard let form = items.last(where: { $0.key == "TYPE" }) else {
      throw TelemetryDamage(
        byte: values.start, problem: "\(values.key) has structures that no TYPE describes")
    }
    guard let types = Self.expanded(walk.letters(form)) else {
      throw TelemetryDamage(byte: form.start, problem: "TYPE cannot be read")
    }
    var total = 0
    for type in types {
      guard let bytes = TelemetryType.bytes(type) else { return nil }
      total += bytes
    }
    guard total == values.size else {
      throw TelemetryDamage(
        byte: values.start,
        problem: "\(values.key) has structures of \(values.size) bytes, and TYPE describes \(total)"
      )
    }
    return types
  }

  /// `Lf[3]` as `Lfff`; nil if a bracket is wrong, or repeats too often.
  static func expanded(_ text: String) -> [UInt8]? {
    var types: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let type = rest.popFirst() {
      guard type != UInt8(ascii: "["), type != UInt8(ascii: "]") else { return nil }
      types.append(type)
      guard rest.first == UInt8(ascii: "[") else { continue }
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")),
        let count = Int(String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)),
        (1...255).contains(count)
      else { return nil }
      types += [UInt8](repeating: type, count: count - 1)
      rest = rest[(end + 1)...]
    }
    return types
  }

  /// The divisors of the values: one number for all, or a number for each.
  private func scales(
    _ items: [TelemetryItem], channels: Int
  ) throws -> [Double] {
    guard let item = items.last(where: { $0.key == "SCAL" }) else {
      return [Double](repeating: 1, count: channels)
    }
    let numbers = try numbers(item)
    guard numbers.allSatisfy({ $0 != 0 && $0.isFinite }) else {
      throw TelemetryDamage(byte: item.start, problem: "SCAL divides by zero")
    }
    if numbers.count == 1 { return [Double](repeating: numbers[0], count: channels) }
    guard numbers.count == channels else {
      throw TelemetryDamage(
        byte: item.start,
        problem: "SCAL has \(counted(numbers.count, "number")) for "
          + "\(counted(channels, "value"))")
    }
    return numbers
  }

  private func numbers(_ item: TelemetryItem) throws -> [Double] {
    guard let bytes = TelemetryType.bytes(item.type) else {
      throw TelemetryDamage(byte: item.start, problem: "\(item.key) holds no numbers")
    }
    return stride(from: item.body.lowerBound, to: item.body.upperBound - bytes + 1, by: bytes)
      .map { TelemetryType.number(item.type, at: $0, in: walk.bytes) }
  }

  private func samples(
    _ values: TelemetryItem, _ types: [UInt8], _ scales: [Double]
  ) -> [[Double]] {
    (0..<values.count).map { number in
      var place = values.body.lowerBound + number * values.size
      return zip(types, scales).map { type, scale in
        defer { place += TelemetryType.bytes(type) ?? 0 }
        return TelemetryType.number(type, at: place, in: walk.bytes) / scale
      }
    }
  }

  /// The unit of all values; empty if the values have different units.
  private func unit(_ items: [TelemetryItem]) -> String {
    guard let item = items.last(where: { $0.key == "SIUN" || $0.key == "UNIT" }), item.count > 0
    else { return "" }
    let units = Set((0..<item.count).map { walk.text(item, $0) })
    return units.count == 1 ? units.first ?? "" : ""
  }
}

/// The names of the measurements of GoPro's cameras and drones.
enum TelemetryNames {
  private static let kinds = [
    "ACCL": "accelerometer", "ATTD": "attitude", "CORI": "camera-orientation", "GLPI": "position",
    "GPRI": "gps", "GPS5": "gps", "GPS9": "gps", "GRAV": "gravity", "GYRO": "gyroscope",
    "IORI": "image-orientation", "ISOE": "iso", "ISOG": "iso", "KBAT": "battery",
    "MAGN": "magnetometer", "SHUT": "shutter", "WBAL": "white-balance",
  ]

  private static let channels: [String: [String]] = [
    "CORI": ["w", "x", "y", "z"], "IORI": ["w", "x", "y", "z"],
    "GPS5": ["latitude", "longitude", "altitude", "speed2D", "speed3D"],
    "GPS9": [
      "latitude", "longitude", "altitude", "speed2D", "speed3D", "days", "seconds", "precision",
      "fix",
    ],
    "GRAV": ["x", "y", "z"], "MAGN": ["x", "y", "z"],
  ]

  static func kind(of key: String) -> String {
    let plain = key.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    return kinds[key] ?? (plain.isEmpty ? "telemetry" : plain)
  }

  /// - Parameter title: The stream's own title, which may end in the names: `Gyroscope (z,x,y)`.
  static func channels(of key: String, title: String, count: Int) -> [String] {
    if let known = channels[key], known.count == count { return known }
    if count == 1 { return [kind(of: key)] }
    if let start = title.lastIndex(of: "("), let end = title.lastIndex(of: ")"), start < end {
      let names = title[title.index(after: start)..<end].split(separator: ",").map {
        String($0.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "/" || $0 == "-") })
      }
      if names.count == count, Set(names).count == count, !names.contains("") { return names }
    }
    return (1...count).map { "\($0)" }
  }
}
