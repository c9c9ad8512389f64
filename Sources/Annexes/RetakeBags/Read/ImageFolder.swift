import Foundation
import RetakeCore
import RetakeMedia
import RetakeSensors

/// A folder with images and their times, in a form of public data sets, and files of numbers next
/// to them.
///
/// The form decides where times come from; a folder whose form leaves them open is refused.
///
/// | form | images and times | numbers |
/// |---|---|---|
/// | EuRoC | `CAM/data/*` with `CAM/data.csv` in nanoseconds | `NAME/data.csv` |
/// | TUM | `NAME/*` with `NAME.txt` in seconds | other `.txt` with a first column `timestamp` |
/// | KITTI | `CAM/data/*` with `CAM/timestamps.txt` as dates | `oxts/data/*.txt` |
/// | KITTI odometry | `CAM/*` with `times.txt` in seconds | – |
/// | plain | `*` with names of times since 1970, or numbers with a rate | – |
struct ImageFolder: Hashable, Sendable {
  /// Images of one camera.
  struct Camera: Hashable, Sendable {
    var name: String
    /// In the order of their times.
    var images: [Image]
  }

  struct Image: Hashable, Sendable {
    var nanoseconds: Int64
    var path: String
  }

  /// Rows of numbers with a time.
  struct Table: Hashable, Sendable {
    var name: String
    var path: String
    /// Of the first number of a row.
    var unit: SensorTimeUnit
    /// Files with one row each and no time, and their times.
    var rows: [Image] = []
    var columns: [String]
    /// Of the columns, in the words of the file.
    var columnUnits: [String]
  }

  var cameras: [Camera] = []
  var tables: [Table] = []
  /// Images that a list names and that are not there.
  var losses: [String] = []
  var notes: [String] = []

  /// The type of topics with images.
  static let imageType = "image file"

  private let root: String
  private static let namesMax = 1_000_000
  private static let listBytesMax: Int64 = 256 << 20
  private static let namesShown = 3

  /// - Parameter rate: The time from one number to the next, of images whose names are numbers.
  /// - Throws: `BagError.imageTimes` if the folder has images and no known form.
  /// - Returns: nil for a folder without images.
  init?(_ path: String, rate: TimeBase?) throws {
    let inner = path + "/mav0"
    root = FileManager.default.fileExists(atPath: inner) ? inner : path
    let names = Self.names(in: root)
    readEuRoC(names)
    if cameras.isEmpty { readTUM(names) }
    if cameras.isEmpty { try readKITTI(names) }
    let isPlain = cameras.isEmpty
    if isPlain, let camera = try plain(names, rate: rate) { cameras = [camera] }
    guard !cameras.isEmpty else { return nil }
    guard isPlain || rate == nil else { throw BagError.rateOfTimes(path: path) }
    let first = cameras.compactMap(\.images.first?.path)
    if let pointer = first.first(where: { LargeFilePointer(file: $0) != nil }) {
      throw BagError.imageTimes(
        path: pointer, cause: "this is a pointer of Git LFS, without the image",
        remedy: LargeFilePointer.advice)
    }
    noteOthers(names)
  }

  private static func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .prefix(namesMax).filter { !$0.hasPrefix(".") }.sorted()
  }

  private static func images(in folder: String) -> [String] {
    names(in: folder).filter { MediaFolder.isImage($0) }
  }

  private func isThere(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: root + "/" + name)
  }

  /// The lines of a text file; comments begin with `#`. Empty for a file that cannot be read.
  static func lines(_ path: String) -> (rows: [Substring], comments: [Substring]) {
    guard let data = try? RegularFile.contents(path, links: .followed, bytesMax: listBytesMax)
    else { return ([], []) }
    // Spreadsheets write a byte order mark.
    let text = String(decoding: data, as: UTF8.self).drop { $0 == "\u{FEFF}" }
    let lines = text.split(whereSeparator: \.isNewline)
    return (lines.filter { !$0.hasPrefix("#") }, lines.filter { $0.hasPrefix("#") })
  }

  static func fields(_ line: Substring) -> [Substring] {
    line.split { $0 == "," || $0 == " " || $0 == "\t" }
  }

  // MARK: EuRoC

  private mutating func readEuRoC(_ names: [String]) {
    // The folder of one camera, or the folder around all.
    if isThere("data.csv"), isThere("data") {
      addEuRoC(name: URL(fileURLWithPath: root).lastPathComponent, folder: "")
      if !cameras.isEmpty { noteNeighbors() }
      return
    }
    for name in names where isThere("\(name)/data.csv") { addEuRoC(name: name, folder: name + "/") }
  }

  private mutating func addEuRoC(name: String, folder: String) {
    let list = "\(folder)data.csv"
    let images = Self.images(in: "\(root)/\(folder)data")
    guard !images.isEmpty else {
      if let table = Self.commaTable(name, "\(root)/\(list)") { tables.append(table) }
      return
    }
    let rows = Self.lines("\(root)/\(list)").rows.map { $0.split(separator: ",") }
    add(name, folder: "\(folder)data", list: list, rows: rows, unit: .ns, images: images)
  }

  private mutating func noteNeighbors() {
    let outer = URL(fileURLWithPath: root).deletingLastPathComponent().path
    let others = Self.names(in: outer).filter {
      $0 != cameras[0].name && FileManager.default.fileExists(atPath: "\(outer)/\($0)/data.csv")
    }
    guard !others.isEmpty else { return }
    notes.append(
      "\(others.joined(separator: ", ")) in the folder around it is not imported: "
        + "retake import \(outer.shellWord) takes all")
  }

  /// `#timestamp [ns],w_RS_S_x [rad s^-1],…`.
  private static func commaTable(_ name: String, _ path: String) -> Table? {
    let (rows, comments) = lines(path)
    guard let first = rows.first?.split(separator: ",", omittingEmptySubsequences: false),
      first.count > 1, SensorTime.parse(first[0], .ns) != nil
    else { return nil }
    let heads = comments.first?.dropFirst().split(separator: ",") ?? []
    let isNamed = heads.count == first.count
    let columns = (1..<first.count).map { place -> (String, String) in
      guard isNamed else { return ("column\(place)", "") }
      let parts = heads[place].split(separator: "[", maxSplits: 1)
      let unit = parts.count > 1 ? parts[1].prefix { $0 != "]" } : ""
      return (parts[0].trimmingCharacters(in: .whitespaces), plainUnit(String(unit)))
    }
    return Table(
      name: name, path: path, unit: .ns, columns: columns.map(\.0), columnUnits: columns.map(\.1))
  }

  /// `m s^-2` as `m/s²`.
  private static func plainUnit(_ unit: String) -> String {
    ["rad s^-1": "rad/s", "m s^-1": "m/s", "m s^-2": "m/s²", "deg s^-1": "deg/s"][unit] ?? unit
  }

  // MARK: TUM

  private mutating func readTUM(_ names: [String]) {
    let lists = names.filter { $0.hasSuffix(".txt") }
    for list in lists {
      let name = String(list.dropLast(".txt".count))
      let images = Self.images(in: "\(root)/\(name)")
      guard !images.isEmpty else { continue }
      let rows = Self.lines("\(root)/\(list)").rows.map {
        Self.fields($0)
      }
      guard let row = rows.first, row.count == 2, MediaFolder.isImage(String(row[1])) else {
        continue
      }
      add(name, folder: name, list: list, rows: rows, unit: .s, images: images)
    }
    guard !cameras.isEmpty else { return }
    for list in lists where !cameras.contains(where: { $0.name + ".txt" == list }) {
      if let table = Self.spaceTable(String(list.dropLast(4)), "\(root)/\(list)") {
        tables.append(table)
      }
    }
  }

  /// `# timestamp tx ty tz`, then numbers.
  private static func spaceTable(_ name: String, _ path: String) -> Table? {
    let (rows, comments) = lines(path)
    let first = rows.first?.split(separator: " ") ?? []
    guard first.count > 1, first.allSatisfy({ Double($0) != nil }) else { return nil }
    let heads =
      comments.map { $0.dropFirst().split(separator: " ") }
      .last { $0.first == "timestamp" && $0.count == first.count }
    let columns = (1..<first.count).map { place in
      heads.map { String($0[place]) } ?? "column\(place)"
    }
    return Table(
      name: name, path: path, unit: .s, columns: columns,
      columnUnits: columns.map { _ in "" })
  }

  // MARK: KITTI

  private mutating func readKITTI(_ names: [String]) throws {
    for name in names where isThere("\(name)/timestamps.txt") && isThere("\(name)/data") {
      let (folder, list) = ("\(name)/data", "\(name)/timestamps.txt")
      let images = Self.images(in: "\(root)/\(folder)")
      let times = Self.lines("\(root)/\(list)").rows
      guard images.isEmpty else {
        cameras.append(
          Camera(name: name, images: try rows(name, folder, images, times, list, .date)))
        continue
      }
      let files = Self.names(in: "\(root)/\(folder)").filter { $0.hasSuffix(".txt") }
      guard name == "oxts", !files.isEmpty else { continue }
      tables.append(
        Table(
          name: name, path: "\(root)/\(list)", unit: .date,
          rows: try rows(name, folder, files, times, list, .date), columns: Self.oxts,
          columnUnits: []))
    }
    guard cameras.isEmpty, isThere("times.txt") else { return }
    let times = Self.lines("\(root)/times.txt").rows
    for name in names {
      let images = Self.images(in: "\(root)/\(name)")
      guard !images.isEmpty else { continue }
      cameras.append(
        Camera(name: name, images: try rows(name, name, images, times, "times.txt", .s)))
    }
  }

  /// The numbers of a row, by KITTI's own names (dataformat.txt of its raw data).
  private static let oxts =
    ("lat lon alt roll pitch yaw vn ve vf vl vu ax ay az af al au wx wy wz wf wl wu pos_accuracy "
    + "vel_accuracy navstat numsats posmode velmode orimode").split(separator: " ").map(String.init)

  /// One row of times for each file: file n has row n.
  private mutating func rows(
    _ camera: String, _ folder: String, _ images: [String], _ times: [Substring], _ list: String,
    _ unit: SensorTimeUnit
  ) throws -> [Image] {
    var found: [Image] = []
    var missing: [String] = []
    var numbered: [Int: String] = [:]
    for name in images {
      guard let number = Int(MediaFolder.stem(name)) else {
        throw BagError.imageTimes(
          path: "\(root)/\(folder)",
          cause: "the name '\(name)' is not the number of a row of \(list)")
      }
      numbered[number] = name
    }
    guard let last = numbered.keys.max(), last < times.count else {
      throw BagError.imageTimes(
        path: "\(root)/\(list)",
        cause: "it has \(counted(times.count, "time")), and the last file is number "
          + "\(numbered.keys.max() ?? 0), counted from 0")
    }
    for (row, text) in times.enumerated() {
      guard let time = SensorTime.parse(text.trimmingCharacters(in: .whitespaces), unit) else {
        throw BagError.imageTimes(
          path: "\(root)/\(list)", cause: "row \(row + 1) is no time: '\(text.prefix(40))'")
      }
      guard let name = numbered[row] else {
        missing.append("\(row)")
        continue
      }
      found.append(Image(nanoseconds: time, path: "\(root)/\(folder)/\(name)"))
    }
    lose(missing, of: camera, "row", in: list)
    return Self.sorted(found)
  }

  // MARK: Lists with names

  private mutating func add(
    _ camera: String, folder: String, list: String, rows: [[Substring]], unit: SensorTimeUnit,
    images: [String]
  ) {
    let there = Set(images)
    var (found, missing, listed) = ([Image](), [String](), Set<String>())
    for row in rows where row.count >= 2 {
      let text = row[0].trimmingCharacters(in: .whitespaces)
      let path = row[1].trimmingCharacters(in: .whitespaces)
      let name = path.split(separator: "/").last.map(String.init) ?? path
      guard let time = SensorTime.parse(text, unit) else {
        losses.append("\(list): '\(text)' is no time")
        continue
      }
      listed.insert(name)
      guard there.contains(name) else {
        missing.append(name)
        continue
      }
      found.append(Image(nanoseconds: time, path: "\(root)/\(folder)/\(name)"))
    }
    lose(missing, of: camera, "image", in: list)
    let others = images.filter { !listed.contains($0) }
    if !others.isEmpty {
      notes.append(
        "\(camera): \(counted(others.count, "image is", "images are")) not in \(list), and left out: "
          + Self.first(others))
    }
    guard !found.isEmpty else { return }
    cameras.append(Camera(name: camera, images: Self.sorted(found)))
  }

  private mutating func lose(
    _ missing: [String], of camera: String, _ what: String, in list: String
  ) {
    guard !missing.isEmpty else { return }
    losses.append(
      "\(camera): \(list) has \(counted(missing.count, what)) without a file: "
        + Self.first(missing))
  }

  private static func sorted(_ images: [Image]) -> [Image] {
    images.sorted { ($0.nanoseconds, $0.path) < ($1.nanoseconds, $1.path) }
  }

  /// - Parameter count: Of all names; `names` may be only the first.
  private static func first(_ names: [String], of count: Int? = nil) -> String {
    let count = count ?? names.count
    return names.prefix(namesShown).joined(separator: ", ")
      + (count > namesShown ? " and \(count - namesShown) more" : "")
  }

  // MARK: Plain folders

  private mutating func plain(_ names: [String], rate: TimeBase?) throws -> Camera? {
    let images = names.filter { MediaFolder.isImage($0) }
    guard !images.isEmpty else { return nil }
    try requireKept(images)
    let stems = images.map { MediaFolder.stem($0) }
    let name = URL(fileURLWithPath: root).lastPathComponent
    if let dated = ImageNames.date(in: stems) {
      throw BagError.imageTimes(
        path: root,
        cause:
          "the names of its images are dates, such as \(images[0]), which do not say their time "
          + "zone",
        remedy: dateList(images[0], prefix: dated))
    }
    if let times = ImageNames.times(stems) {
      guard rate == nil else { throw BagError.rateOfTimes(path: root) }
      let ordered = zip(times, images).sorted { $0 < $1 }
      try requireDistinct(ordered, "time")
      return Camera(
        name: name, images: ordered.map { Image(nanoseconds: $0.0, path: "\(root)/\($0.1)") })
    }
    let numbers = stems.map { ImageNames.number($0) }
    guard let first = numbers.first.flatMap(\.self)?.start,
      numbers.allSatisfy({ $0?.start == first })
    else {
      throw BagError.imageTimes(
        path: root,
        cause: "the names of its \(counted(images.count, "image")) are neither times nor numbers",
        remedy: "To run a pipeline on single images, without an import: retake test --pipeline "
          + "PIPELINE.json --source images:\(root.shellWord). " + Self.asNumbers)
    }
    let ordered = zip(numbers.map { $0?.number ?? 0 }, images).sorted { $0 < $1 }
    try requireDistinct(ordered, "number")
    // As the names write it: 0007.
    let digits = MediaFolder.stem(ordered[0].1).dropFirst(first.count).count { $0.isNumber }
    let gaps = Self.gaps(ordered.map(\.0), digits: digits)
    let last = ordered[ordered.count - 1].0
    let range = ordered.count == 1 ? "the number \(last)" : "the numbers \(ordered[0].0) to \(last)"
    let missing =
      gaps.count == 0
      ? "" : "; \(Self.first(gaps.first, of: gaps.count)) \(gaps.count == 1 ? "is" : "are") missing"
    guard let rate else {
      throw BagError.imageTimes(
        path: root,
        cause:
          "its \(counted(images.count, "image has", "images have")) \(range) and no times\(missing)",
        remedy: "Name the rate of the numbers, in images a second: retake import \(root.shellWord) "
          + "--rate 30" + (last >= 1_000_000_000 ? "; seconds have the rate 1" : ""))
    }
    if gaps.count > 0 {
      notes.append(
        "\(counted(gaps.count, "number is", "numbers are")) missing, and \(gaps.count == 1 ? "leaves a gap" : "leave gaps"): "
          + Self.first(gaps.first, of: gaps.count))
    }
    let start = ordered[0].0
    return Camera(
      name: name,
      images: ordered.map {
        Image(
          nanoseconds: Timestamp(pts: Int64($0.0 - start), timeBase: rate)?.nanoseconds ?? .max,
          path: "\(root)/\($0.1)")
      })
  }

  /// Sessions keep the bytes of PNG and JPEG only.
  private func requireKept(_ images: [String]) throws {
    let endings = Set(images.map { URL(fileURLWithPath: $0).pathExtension })
    guard endings.allSatisfy({ !Self.keptEndings.contains($0.lowercased()) }),
      let ending = endings.min()
    else { return }
    throw BagError.imageTimes(
      path: root, cause: "its images are .\(ending) files, and images are kept as PNG or JPEG",
      remedy: "Make PNG of them, which has up to 16 bits: mkdir png && for f in "
        + "\(root.shellWord)/*.\(ending); do ffmpeg -i \"$f\" png/\"$(basename \"$f\" "
        + ".\(ending)).png\"; done; then: retake import png")
  }

  private static let keptEndings: Set = ["jpeg", "jpg", "png"]

  /// Two images of one time, such as an image and its preview.
  private func requireDistinct<Key: Comparable>(
    _ ordered: [(Key, String)], _ what: String
  ) throws {
    for (one, other) in zip(ordered, ordered.dropFirst()) where one.0 == other.0 {
      throw BagError.imageTimes(
        path: root, cause: "\(one.1) and \(other.1) have the same \(what)",
        remedy: "Move the images that are not of this camera into another folder")
    }
  }

  private static let asNumbers =
    "Write the times of the images into a file and make a video: "
    + "ffmpeg -framerate 25 -pattern_type glob -i 'FOLDER/*.png' -c:v ffv1 OUT.mkv; then "
    + "retake import OUT.mkv --times FILE"

  /// The commands that make a list of times, in the form of EuRoC, of names with dates.
  private func dateList(_ image: String, prefix: String) -> String {
    let ending = URL(fileURLWithPath: image).pathExtension
    return
      "Make a list of their times; -u reads the dates as UTC, and the digits after the seconds "
      + "are their fraction: mkdir timed && cp -r \(root.shellWord) timed/data && (cd timed/data && "
      + "for f in *.\(ending); do d=${f#\(prefix.shellWord)}; d=${d%.*}; d=${d//[!0-9]/}; "
      + "n=${d:14}000000000; echo \"$(date -u -d \"${d:0:8} ${d:8:2}:${d:10:2}:${d:12:2}\" "
      + "+%s)${n:0:9},$f\"; done) > timed/data.csv; then: retake import timed"
  }

  /// - Returns: how many numbers are missing, and the first of them.
  private static func gaps(_ numbers: [Int], digits: Int) -> (count: Int, first: [String]) {
    var (count, first) = (0, [String]())
    for (before, after) in zip(numbers, numbers.dropFirst()) where after > before + 1 {
      count += after - before - 1
      for number in (before + 1)..<after {
        guard first.count <= namesShown else { break }
        let text = String(number)
        first.append(String(repeating: "0", count: max(0, digits - text.count)) + text)
      }
    }
    return (count, first)
  }

  // MARK: What is left out

  private mutating func noteOthers(_ names: [String]) {
    let read = Set(cameras.map(\.name) + tables.map(\.name))
    let others = names.filter { name in
      !read.contains(MediaFolder.stem(name)) && !read.contains(name) && !MediaFolder.isImage(name)
        && !["data", "data.csv", "times.txt"].contains(name)
    }
    if !others.isEmpty { notes.append("left out: \(Self.first(others))") }
  }
}
