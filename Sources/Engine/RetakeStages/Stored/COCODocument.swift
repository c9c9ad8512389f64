import Foundation
import RetakeCore

/// Reads COCO JSON: an array of results, or an object with `annotations`.
package struct COCODocument {
  let file: String
  /// `nil`: frames are the images in the order of their names.
  let firstFrame: Int?

  private var images: [Int: (sequence: Int, size: [Int]?)]?
  private var classes: [Int: Int]?

  package init(file: String, firstFrame: Int?) { (self.file, self.firstFrame) = (file, firstFrame) }

  /// - Throws: `StoredError`.
  package mutating func content(_ bytes: [UInt8]) throws -> StoredContent {
    let document: JSONValue
    do {
      document = try JSONValue(parsing: Data(bytes))
    } catch let error as DecodingError {
      throw StoredError.malformed(file, cause: error.shortText)
    }
    var content = StoredContent()
    content.firstFrame = firstFrame
    guard case .object = document else { return try read(document, "", into: content) }
    content.info = document["info"]
    if let list = document["images"] { try readImages(list, &content) }
    if let list = document["categories"] { content.classNames = try readCategories(list) }
    guard let annotations = document["annotations"] else {
      throw StoredError.element(file, "", "the document has no 'annotations'")
    }
    return try read(annotations, "/annotations", into: content)
  }

  private func read(
    _ list: JSONValue, _ pointer: String, into content: StoredContent
  ) throws -> StoredContent {
    var content = content
    content.unit = .element(pointer)
    if firstFrame == nil, images == nil {
      throw StoredError.firstImage(
        file, "the file has no 'images', so its image_id does not say which frame it is")
    }
    var seen = SeenBoxes()
    for (index, entry) in try array(list, pointer).enumerated() {
      let place = "\(pointer)/\(index)"
      let (sequence, size) = try frame(of: entry, place)
      let detection = try self.detection(entry, place, needsScore: pointer.isEmpty)
      if let twice = seen.note(detection, sequence: sequence) {
        throw StoredError.element(file, place, twice, advice: "Remove one of them")
      }
      let note = try note(entry, place)
      if note.isIgnored, content.region == nil { content.region = place }
      content.add(detection, sequence: sequence, place: index, size: size, note: note)
    }
    return content
  }

  private func frame(of entry: JSONValue, _ place: String) throws -> (Int, size: [Int]?) {
    let id = try integer(entry["image_id"], "\(place)/image_id")
    let image = images?[id]
    if images != nil, image == nil {
      throw StoredError.element(file, "\(place)/image_id", "no image has the id \(id)")
    }
    let first = firstFrame ?? 0
    // An id may be any integer; the difference wraps to a number outside the range.
    let sequence = image?.sequence ?? id &- first
    guard (0...StoredOptions.frameMax).contains(sequence) else {
      throw StoredError.element(
        file, "\(place)/image_id",
        "the image \(id) is "
          + (id < first ? "before the first frame, \(first)" : "above \(StoredOptions.frameMax)"),
        advice: "Set the option 'firstFrame' to the image_id of the session's frame 0")
    }
    return (sequence, image?.size)
  }

  private func detection(
    _ entry: JSONValue, _ place: String, needsScore: Bool
  ) throws -> Detection {
    let numbers = try array(entry["bbox"], "\(place)/bbox").enumerated().map {
      try number($1, "\(place)/bbox/\($0)")
    }
    guard numbers.count == 4 else {
      throw StoredError.element(
        file, "\(place)/bbox",
        "a bbox is [x, y, width, height], and this has "
          + counted(numbers.count, "number"))
    }
    // Annotations have no score.
    let score = needsScore || entry["score"] != nil ? entry["score"] : .integer(1)
    let category = try integer(entry["category_id"], "\(place)/category_id")
    var detection = Detection(
      box: Box(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3]),
      score: try number(score, "\(place)/score"), classIndex: category)
    if let classes {
      guard let index = classes[category] else {
        throw StoredError.element(
          file, "\(place)/category_id", "no category has the id \(category)")
      }
      detection.classIndex = index
    }
    if let track = entry["track_id"] {
      detection.identity = try integer(track, "\(place)/track_id")
    }
    if let problem = detection.problem { throw StoredError.element(file, place, problem) }
    return detection
  }

  private func note(_ entry: JSONValue, _ place: String) throws -> StoredNote {
    var note = StoredNote()
    for key in ["iscrowd", "ignore"] {
      switch entry[key] {
      case nil, .null?, .bool(false)?, .integer(0)?: break
      case .bool(true)?, .integer(1)?: note.isIgnored = true
      case let other: throw wrong(other, "0 or 1", "\(place)/\(key)")
      }
    }
    switch entry["utf8_string"] {
    case nil, .null?: break
    case .string(let text)?: note.text = text
    case let other: throw wrong(other, "a string", "\(place)/utf8_string")
    }
    return note
  }

  // MARK: The other lists

  private mutating func readImages(_ list: JSONValue, _ content: inout StoredContent) throws {
    var found: [(id: Int, name: String, image: StoredImage)] = []
    for (index, entry) in try array(list, "/images").enumerated() {
      let place = "/images/\(index)"
      let sides = ["width", "height"].filter { entry[$0] != nil && entry[$0] != .null }
      let size = try sides.map { try integer(entry[$0], "\(place)/\($0)") }
      var name = ""
      // Names are needed only where they number the frames.
      if firstFrame == nil {
        guard case .string(let text)? = entry["file_name"] else {
          throw StoredError.firstImage(
            file, "\(place) has no 'file_name', which orders the frames")
        }
        name = text
      }
      let id = try integer(entry["id"], "\(place)/id")
      found.append((id, name, StoredImage(size: size.count == 2 ? size : nil, element: entry)))
    }
    // In the order of bytes, as a folder of images becomes a session.
    let order = found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    if firstFrame == nil {
      try requireOneOrder(order.map { ($0.id, $0.name) })
      content.frameCount = order.count
    }
    var images: [Int: (sequence: Int, size: [Int]?)] = [:]
    var listed: [Int: StoredImage] = [:]
    for (rank, image) in order.enumerated() {
      let sequence = firstFrame.map { image.id &- $0 } ?? rank
      listed[sequence] = image.image
      guard images.updateValue((sequence, image.image.size), forKey: image.id) == nil else {
        throw StoredError.element(file, "/images", "the id \(image.id) is there twice")
      }
    }
    self.images = images
    content.images = listed
  }

  /// Names without leading zeros have another order than their numbers, so neither is chosen.
  private func requireOneOrder(_ images: [(id: Int, name: String)]) throws {
    for (image, next) in zip(images, images.dropFirst()) {
      guard image.name != next.name else {
        throw StoredError.firstImage(file, "two images are named '\(image.name.shortened)'")
      }
      guard image.id < next.id else {
        throw StoredError.firstImage(
          file,
          "'\(image.name.shortened)' is before '\(next.name.shortened)' by its name, and "
            + "after it by its id")
      }
    }
  }

  /// - Returns: The names in the order of the ids: a class is the position of its category.
  private mutating func readCategories(_ list: JSONValue) throws -> [String] {
    var names: [Int: String] = [:]
    for (index, entry) in try array(list, "/categories").enumerated() {
      let place = "/categories/\(index)"
      guard case .string(let name)? = entry["name"] else {
        throw StoredError.element(file, "\(place)/name", "a category has a name, a string")
      }
      guard names.updateValue(name, forKey: try integer(entry["id"], "\(place)/id")) == nil else {
        throw StoredError.element(file, place, "the id of this category is there twice")
      }
    }
    let order = names.sorted { $0.key < $1.key }
    classes = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1.key, $0) })
    return order.map(\.value)
  }

  // MARK: Values

  private func array(_ value: JSONValue?, _ pointer: String) throws -> [JSONValue] {
    guard case .array(let elements)? = value else { throw wrong(value, "an array", pointer) }
    return elements
  }

  private func integer(_ value: JSONValue?, _ pointer: String) throws -> Int {
    guard case .integer(let number)? = value else { throw wrong(value, "an integer", pointer) }
    return Int(number)
  }

  private func number(_ value: JSONValue?, _ pointer: String) throws -> Double {
    switch value {
    case .number(let number): return number
    case .integer(let number): return Double(number)
    default: throw wrong(value, "a number", pointer)
    }
  }

  private func wrong(_ value: JSONValue?, _ wanted: String, _ pointer: String) -> StoredError {
    let found = value.map { "is \($0.kindText)" } ?? "is missing"
    return .element(file, pointer, "must be \(wanted), \(found)")
  }
}
