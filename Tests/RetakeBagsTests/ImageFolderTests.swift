import Foundation
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeBags

/// Folders of images in the forms of public data sets.
@Suite struct ImageFolderTests {
  private let folder: TemporaryFolder
  private static let start: Int64 = 1_403_636_579_763_555_584

  init() throws { folder = try TemporaryFolder() }

  /// An image of 4x2 pixels, another one for each number below 8.
  private func image(_ number: Int) throws -> [UInt8] {
    let images = try FileManager.default.contentsOfDirectory(
      at: packageRoot.appending(path: "Tests/Judges/bags"), includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "jpg" }.sorted { $0.path < $1.path }
    return [UInt8](try Data(contentsOf: images[number % images.count]))
  }

  private func put(_ number: Int, _ name: String) throws {
    let file = folder.file(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(try image(number)).write(to: file)
  }

  private func importing(
    _ name: String, rate: TimeBase? = nil
  ) throws -> (BagImportResult, SessionReader) {
    let result = try BagImporter(
      BagImportOptions(
        path: folder.file(name).path, name: "s", into: folder.file("out").path, rate: rate)
    ).run()
    return (result, try SessionReader(opening: result.folder.path))
  }

  private func cause(_ name: String, rate: TimeBase? = nil) -> String {
    do {
      _ = try importing(name, rate: rate)
      return ""
    } catch let error as BagError {
      return (error.cause ?? "") + " | " + (error.advice ?? "")
    } catch {
      return "\(error)"
    }
  }

  @Test func `a folder of EuRoC has its cameras, its times and its tables`() throws {
    var lists = ["cam0": "#timestamp [ns],filename\n", "cam1": "#timestamp [ns],filename\n"]
    for number in 0..<5 {
      let time = Self.start + Int64(number) * 50_000_000 + Int64(number % 3) * 1_000
      for camera in ["cam0", "cam1"] {
        try put(number, "e/mav0/\(camera)/data/\(time).jpg")
        lists[camera, default: ""] += "\(time),\(time).jpg\n"
      }
    }
    // As a spreadsheet writes them.
    for (camera, text) in lists {
      try folder.write(
        "\u{FEFF}" + text.replacing("\n", with: "\r\n"), to: "e/mav0/\(camera)/data.csv")
    }
    try folder.write("%YAML", to: "e/mav0/cam0/sensor.yaml")
    try folder.write("notes", to: "e/mav0/README.txt")
    try folder.write(
      "\u{FEFF}#timestamp [ns],w_RS_S_x [rad s^-1],a_RS_S_x [m s^-2]\n\(Self.start),0.5,9.81\n"
        + "\(Self.start + 5_000_000),-1e-3,9.8\n", to: "e/mav0/imu0/data.csv")
    for name in ["e", "e/mav0"] {
      let (result, reader) = try importing(name)
      #expect(result.status == .clean, "\(result.losses)")
      #expect(result.tracks.map(\.topic) == ["cam0", "cam1"])
      #expect(result.notes == ["left out: README.txt"])
      #expect(
        try reader.frames(track: 0).map(\.pts) == [
          0, 50_001_000, 100_002_000, 150_000_000, 200_001_000,
        ])
      for number in 0..<5 {
        let packet = try #require(try reader.index.packet(track: 1, index: number))
        #expect(packet.size == (try image(number)).count)
      }
      let sensor = try #require(reader.sensors.first)
      #expect((sensor.name, sensor.kind, sensor.unit) == ("imu0", "imu", "rad/s, m/s²"))
      #expect(sensor.channels == ["w_RS_S_x", "a_RS_S_x"])
      let samples = try reader.index.store.samples(sensor: 0, from: 0, count: 10)
      #expect(samples.map(\.timeNanoseconds) == [0, 5_000_000])
      #expect(samples.map(\.numbers) == [[0.5, 9.81], [-0.001, 9.8]])
      try FileManager.default.removeItem(at: folder.file("out"))
    }
    let (one, _) = try importing("e/mav0/cam0")
    #expect(one.tracks.map(\.topic) == ["cam0"] && one.sensors.isEmpty)
    #expect(
      one.notes.contains { $0.hasPrefix("cam1, imu0 in the folder around it") }, "\(one.notes)")
  }

  @Test func `a folder of TUM keeps a gap, and an image that is missing is a loss`() throws {
    var list = "# color images\n# timestamp filename\n"
    for number in 0..<4 {
      let time = "\(1_305_031_102 + (number > 1 ? 2 : 0)).\(175_304 + number)"
      list += "\(time) rgb/\(time).jpg\n"
      if number != 3 { try put(number, "t/rgb/\(time).jpg") }
    }
    try folder.write(list, to: "t/rgb.txt")
    try folder.write(
      "# timestamp ax ay az\n1305031102.175304 0.1 0.2 9.8\n", to: "t/accelerometer.txt")
    let (result, reader) = try importing("t")
    #expect(result.status == .lossy)
    #expect(
      result.losses.first?.contains("rgb.txt has 1 image without a file") == true, "\(result)")
    #expect(try reader.frames(track: 0).map(\.pts) == [0, 1_000, 2_000_002_000])
    #expect(reader.sensors.map(\.name) == ["accelerometer"])
    #expect(reader.sensors.map(\.channels) == [["ax", "ay", "az"]])
  }

  @Test func `a folder of KITTI has the dates of its rows, and the rows of its unit`() throws {
    var times = ""
    for number in 0..<3 {
      try put(number, "k/image_00/data/000000000\(number).jpg")
      times += "2011-09-26 13:02:25.9\(64_389_445 + number)\n"
      let row = (0..<30).map { "\($0 + number)" }.joined(separator: " ")
      try folder.write(row, to: "k/oxts/data/000000000\(number).txt")
    }
    for name in ["image_00", "oxts"] { try folder.write(times, to: "k/\(name)/timestamps.txt") }
    let (result, reader) = try importing("k")
    #expect(result.status == .clean, "\(result)")
    #expect(try reader.frames(track: 0).map(\.pts) == [0, 1, 2])
    #expect(try reader.info().started == "2011-09-26T13:02:25Z")
    let sensor = try #require(reader.sensors.first)
    #expect(sensor.channels.count == 30 && sensor.channels.first == "lat")
    let samples = try reader.index.store.samples(sensor: 0, from: 0, count: 10)
    #expect(samples.map { $0.numbers[29] } == [29, 30, 31])
  }

  @Test func `numbers are no times, and leave gaps if the rate is known`() throws {
    for number in [1, 2, 3, 5, 6] { try put(number, "n/frame_000\(number).jpg") }
    let refusal = cause("n")
    #expect(
      refusal.contains("5 images have the numbers 1 to 6 and no times; 0004 is missing"),
      "\(refusal)")
    #expect(refusal.contains("--rate 30"))
    let (result, reader) = try importing("n", rate: TimeBase(1, 25))
    #expect(result.notes == ["1 number is missing, and leaves a gap: 0004"])
    #expect(try reader.frames(track: 0).map(\.pts) == [0, 1, 2, 4, 5].map { $0 * 40_000_000 })
  }

  @Test func `names that are times need no list, and other names are refused`() throws {
    for number in 0..<3 { try put(number, "p/\(Self.start + Int64(number) * 1_000).jpg") }
    let (_, reader) = try importing("p")
    #expect(try reader.frames(track: 0).map(\.pts) == [0, 1_000, 2_000])
    for name in ["left", "right"] { try put(1, "o/\(name).jpg") }
    #expect(cause("o").contains("neither times nor numbers"))
    #expect(cause("o").contains("--source images:"))
    #expect(cause("p", rate: TimeBase(1, 30)).contains("neither times nor numbers") == false)
  }

  @Test func `names with dates are refused with the commands that make a list of times`() throws {
    for name in ["cam 1_20240517T102059250", "cam 1_20240517T102100500"] {
      try put(1, "d 1/\(name).jpg")
    }
    let refusal = cause("d 1")
    #expect(refusal.hasPrefix("the names of its images are dates, such as cam 1_20240517T102059"))
    #expect(cause("d 1", rate: TimeBase(1, 30)) == refusal)
    let command = try #require(refusal.firstMatch(of: /fraction: (.*); then: retake import timed/))
    let made = try runCommand(
      "bash", arguments: ["-c", String(command.1)],
      folder: folder.file("d 1").deletingLastPathComponent())
    try #require(made.status == 0, "\(made.stderr)")
    let (result, reader) = try importing("timed")
    #expect(result.status == .clean && result.notes.isEmpty, "\(result)")
    #expect(try reader.frames(track: 0).map(\.pts) == [0, 1_250_000_000])
    #expect(try reader.info().started == "2024-05-17T10:20:59Z")
  }

  @Test func `text before a time is no part of it, and zeros before a number are no time`() throws {
    for number in 0..<3 {
      try put(number, "ns/cam0_\(Self.start + Int64(number) * 1_000).jpg")
      try put(number, "s/rgb_1305031102.00000\(number).jpg")
      try put(number, "zeros/000000000000\(number).jpg")
    }
    for name in ["ns", "s"] {
      let (_, reader) = try importing(name)
      #expect(try reader.frames(track: 0).map(\.pts) == [0, 1_000, 2_000])
      try FileManager.default.removeItem(at: folder.file("out"))
      #expect(cause(name, rate: TimeBase(1, 30)).contains("a rate would replace them"))
    }
    #expect(cause("zeros").contains("the numbers 0 to 2 and no times"))
  }

  @Test func `names of microseconds, of milliseconds and of Windows are read`() throws {
    for (name, step) in [("us", 1_000), ("ms", 1_000_000)] {
      for number in 0..<3 {
        let time = Self.start / Int64(step) + Int64(number) * 40
        try put(number, "\(name)/\(time).jpg")
      }
      let (_, reader) = try importing(name)
      #expect(try reader.frames(track: 0).map(\.pts) == [0, 40, 80].map { $0 * Int64(step) })
      try FileManager.default.removeItem(at: folder.file("out"))
    }
    for number in [9, 10, 11] { try put(number, "w/image (\(number)).jpg") }
    let (result, reader) = try importing("w", rate: TimeBase(1, 25))
    #expect(result.notes.isEmpty)
    #expect(try reader.frames(track: 0).map(\.pts) == [0, 1, 2].map { $0 * 40_000_000 })
  }

  @Test func `two images of one number and images of other formats are refused`() throws {
    for name in ["0001.jpg", "0002.jpg", "2.jpg"] { try put(1, "twice/\(name)") }
    let twice = cause("twice", rate: TimeBase(1, 25))
    #expect(twice.hasPrefix("0002.jpg and 2.jpg have the same number"), "\(twice)")
    try folder.write("II*", to: "other/0001.tif")
    let other = cause("other")
    #expect(other.hasPrefix("its images are .tif files, and images are kept as PNG or JPEG"))
    #expect(other.contains("*.tif; do ffmpeg -i"), "\(other)")
  }

  @Test func `images that viewers turn are noted`() throws {
    // Orientation 6 in an APP1 segment: viewers turn the image by 90 degrees.
    let tag: [UInt8] = [0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
    let exif = [UInt8]("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 1, 0] + tag + [0, 0, 0, 0]
    for number in 0..<2 {
      let plain = try image(number)
      let bytes =
        plain.prefix(2) + [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif + plain.dropFirst(2)
      try put(number, "e/\(number).jpg")
      try Data(bytes).write(to: folder.file("e/\(number).jpg"))
    }
    let (_, reader) = try importing("e", rate: TimeBase(1, 25))
    let notes = try reader.footageNotes()
    #expect(
      notes.contains(
        "track 0: its images say that viewers turn it 90° clockwise (EXIF orientation); they are kept "
          + "as they are stored"), "\(notes)")
  }

  @Test(arguments: ["e/cam0/data.csv", "t/rgb.txt", "k/cam/timestamps.txt", "o/times.txt"])
  func `a mutated list is a folder or an error`(list: String) throws {
    let isNamed = list.hasSuffix("csv") || list.hasSuffix("rgb.txt")
    let root = list.prefix { $0 != "/" }
    let images = ["e": "e/cam0/data", "t": "t/rgb", "k": "k/cam/data", "o": "o/cam"]
    let folder = try #require(images[String(root)])
    var text = ""
    for number in 0..<3 {
      let name = isNamed ? "1305031102.\(number).jpg" : "00\(number).jpg"
      try put(number, "\(folder)/\(name)")
      let time =
        root == "k"
        ? "2011-09-26 13:02:25.\(number)" : "130503110\(number)" + (root == "t" ? ".5" : "")
      text += time + (isNamed ? (root == "e" ? "," : " ") + name : "") + "\n"
    }
    var numbers = SeededGenerator(seed: 3)
    var read = 0
    for round in 0..<50 {
      var bytes = Array(text.utf8)
      for _ in 0..<numbers.pick(1...3) where bytes.count > 1 {
        let place = numbers.pick(0...bytes.count - 1)
        switch numbers.pick(0...3) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: numbers.next())
        case 1: bytes.removeSubrange(place..<max(place + 1, bytes.count - 1))
        case 2: bytes.insert(contentsOf: Array("-9e99\u{FEFF},".utf8), at: place)
        default: bytes.insert(contentsOf: bytes.suffix(30), at: place)
        }
      }
      try Data(bytes).write(to: self.folder.file(list))
      do {
        let found = try ImageFolder(self.folder.file(String(root)).path, rate: nil)
        read += 1
        #expect(found?.cameras.allSatisfy { !$0.images.isEmpty } ?? true, "round \(round)")
      } catch let error as BagError {
        #expect(error.code == "bag.images.times", "round \(round): \(error)")
      }
    }
    #expect(read > 0)
  }

  @Test func `a damaged list or image is a loss or an error, and never a guess`() throws {
    try put(0, "d/rgb/1305031102.1.jpg")
    try folder.write("x", to: "d/rgb/1305031102.2.jpg")
    try folder.write(
      "1305031102.1 rgb/1305031102.1.jpg\n1305031102.2 rgb/1305031102.2.jpg\nnonsense here\n",
      to: "d/rgb.txt")
    let (result, _) = try importing("d")
    #expect(result.status == .lossy && result.tracks.map(\.damaged) == [1])
    #expect(result.losses.contains { $0.contains("'nonsense' is no time") }, "\(result.losses)")
    // An empty first image does not refuse the others.
    for number in 0..<3 { try put(number, "e/\(number).jpg") }
    try folder.write("", to: "e/0.jpg")
    try FileManager.default.removeItem(at: folder.file("out"))
    let (empty, _) = try importing("e", rate: TimeBase(1, 25))
    #expect(empty.losses.contains { $0.hasSuffix("its 0 bytes are neither PNG nor JPEG") })
    for number in 0..<2 {
      try folder.write(
        "version https://git-lfs.github.com/spec/v1\noid sha256:"
          + String(repeating: "0", count: 64) + "\nsize 9\n", to: "lfs/\(number).jpg")
    }
    #expect(
      cause("lfs", rate: TimeBase(1, 25))
        == "this is a pointer of Git LFS, without the image | Fetch the file itself: git lfs pull")
    for name in ["times.txt"] { try folder.write("0.0\n", to: "short/\(name)") }
    for number in 0..<2 { try put(number, "short/image_0/00000\(number).jpg") }
    #expect(cause("short").contains("it has 1 time, and the last file is number 1"))
  }
}
