import Foundation
import RetakeCore
import RetakeSensors

/// A folder of images, read as a bag: each camera and each table of numbers is a topic.
struct ImageFolderBag: BagFile {
  let path: String
  let bytes: Int64
  let topics: [BagTopic]
  /// A folder has no end that could be missing.
  let isWhole = true
  private let folder: ImageFolder

  private static let imageBytesMax: Int64 = 1 << 30

  init(_ folder: ImageFolder, path: String) {
    (self.folder, self.path) = (folder, path)
    let files =
      folder.cameras.flatMap { $0.images.map(\.path) }
      + folder.tables.flatMap { [$0.path] + $0.rows.map(\.path) }
    bytes = files.reduce(0) { $0 + Self.size($1) }
    topics =
      folder.cameras.map {
        BagTopic(
          name: $0.name, type: ImageFolder.imageType, encoding: MessageEncoding.file.rawValue,
          count: Int64($0.images.count))
      } + folder.tables.map(Self.topic)
  }

  private static func size(_ path: String) -> Int64 {
    (try? RegularFile.facts(of: path, links: .followed).bytes) ?? 0
  }

  /// The numbers of a row are the fields of a message, in CDR.
  private static func topic(_ table: ImageFolder.Table) -> BagTopic {
    let kind = table.name.prefix { !$0.isNumber }
    let units = table.columnUnits.reduce(into: [String]()) { units, unit in
      if !unit.isEmpty, !units.contains(unit) { units.append(unit) }
    }
    return BagTopic(
      name: table.name, type: "table/\(kind.isEmpty ? "numbers" : kind)",
      encoding: MessageEncoding.cdr.rawValue,
      schema: fields(table.columns).map { "float64 \($0)" }.joined(separator: "\n"),
      schemaEncoding: MessageEncoding.cdr.definitionName, unit: units.joined(separator: ", "))
  }

  /// Names that a definition may have.
  private static func fields(_ columns: [String]) -> [String] {
    columns.enumerated().map { place, column in
      let name = String(
        column.map { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" ? $0 : "_" })
      return name.first?.isLetter == true ? name : "column\(place + 1)"
    }
  }

  func read(position: (Int64) throws -> Void, _ body: (BagItem) throws -> Void) throws {
    var done: Int64 = 0
    // By their times, so that the first image of each camera comes early.
    let order = folder.cameras.enumerated().flatMap { topic, camera in
      camera.images.indices.map { (topic: topic, number: $0) }
    }.sorted {
      let images = (
        folder.cameras[$0.topic].images[$0.number], folder.cameras[$1.topic].images[$1.number]
      )
      return (images.0.nanoseconds, $0.topic, $0.number)
        < (images.1.nanoseconds, $1.topic, $1.number)
    }
    for (topic, number) in order {
      try position(done)
      let (camera, image) = (folder.cameras[topic].name, folder.cameras[topic].images[number])
      let place = BagPlace(file: image.path, topic: camera, message: Int64(number))
      let item: BagItem
      do {
        let data = try RegularFile.contents(
          image.path, links: .followed, bytesMax: Self.imageBytesMax)
        done += Int64(data.count)
        item = .message(
          BagMessage(
            topic: topic, logNanoseconds: image.nanoseconds, bytes: [UInt8](data)[...],
            place: place))
      } catch let error as RegularFile.Refusal {
        item = .loss(.damaged(place, cause: error.causeText))
      }
      try body(item)
    }
    for (number, table) in folder.tables.enumerated() {
      try position(done)
      try read(table, topic: folder.cameras.count + number, body)
      done += Self.size(table.path)
    }
  }

  private func read(
    _ table: ImageFolder.Table, topic: Int, _ body: (BagItem) throws -> Void
  ) throws {
    guard table.rows.isEmpty else {
      for (row, file) in table.rows.enumerated() {
        let line = ImageFolder.lines(file.path).rows.first
        let place = BagPlace(file: file.path, topic: table.name, message: Int64(row))
        let fields = line.map(ImageFolder.fields) ?? []
        try body(Self.item(table, topic, fields[...], time: file.nanoseconds, place))
      }
      return
    }
    for (row, line) in ImageFolder.lines(table.path).rows.enumerated() {
      let fields = ImageFolder.fields(line)
      try body(
        Self.item(
          table, topic, fields.dropFirst(),
          time: fields.first.flatMap { SensorTime.parse($0, table.unit) },
          BagPlace(file: table.path, topic: table.name, message: Int64(row))))
    }
  }

  private static func item(
    _ table: ImageFolder.Table, _ topic: Int, _ fields: ArraySlice<Substring>, time: Int64?,
    _ place: BagPlace
  ) -> BagItem {
    let numbers = fields.compactMap { Double($0) }
    guard let time, numbers.count == fields.count, numbers.count == table.columns.count else {
      return .loss(
        .damaged(
          place, cause: "its row is not a time and \(counted(table.columns.count, "number"))"))
    }
    return .message(
      BagMessage(topic: topic, logNanoseconds: time, bytes: message(numbers)[...], place: place))
  }

  /// Plain CDR, little-endian.
  private static func message(_ numbers: [Double]) -> [UInt8] {
    var bytes: [UInt8] = [0, 1, 0, 0]
    for number in numbers {
      let bits = number.bitPattern
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) }
    }
    return bytes
  }
}
