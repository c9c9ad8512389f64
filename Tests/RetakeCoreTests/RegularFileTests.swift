import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeCore

struct RegularFileTests {
  private func refusal(
    _ path: String, links: RegularFile.Links = .refused, bytesMax: Int64 = 100
  ) -> RegularFile.Refusal? {
    do {
      _ = try RegularFile.contents(path, links: links, bytesMax: bytesMax)
      return nil
    } catch {
      return error as? RegularFile.Refusal
    }
  }

  @Test func `a regular file is read, up to its limit`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("0123456789", to: "file").path
    #expect(try RegularFile.contents(path, bytesMax: 10) == Data("0123456789".utf8))
    #expect(try RegularFile.head(path, count: 4) == Data("0123".utf8))
    #expect(try RegularFile.facts(of: path).bytes == 10)
    #expect(refusal(path, bytesMax: 9) == .tooLarge(bytes: 10, bytesMax: 9))
    #expect(refusal(path + "/inside") == .missing)
    #expect(refusal(folder.file("absent").path) == .missing)
    #expect(refusal(folder.url.path) == .folder)
  }

  @Test func `a link is followed only where that is asked for`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("words", to: "file").path
    let (link, lost) = (folder.file("link").path, folder.file("lost").path)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try FileManager.default.createSymbolicLink(atPath: lost, withDestinationPath: "nowhere")
    #expect(refusal(link) == .link)
    #expect(try RegularFile.contents(link, links: .followed, bytesMax: 9) == Data("words".utf8))
    #expect(refusal(lost) == .link)
    #expect(refusal(lost, links: .followed) == .missing)
    #expect(RegularFile.isTaken(lost))
    #expect(!RegularFile.isTaken(folder.file("absent").path))
  }

  @Test func `a name with a zero byte in it is not another file's`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("words", to: "file").path
    #expect(refusal(path + "\0.png") == .system(EINVAL))
    #expect(throws: RegularFile.Refusal.system(EINVAL)) {
      try RegularFile.facts(of: path + "\0.png", links: .followed)
    }
  }

  @Test func `a link out of a folder is found on the way to a path`() throws {
    let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
    let root = folder.url.path
    try folder.write("", to: "inside/file")
    for (name, target) in [
      ("out", other.url.path), ("lost", "nowhere"), ("in", "inside"), ("up", ".."), ("self", "."),
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: root + "/" + name, withDestinationPath: target)
    }
    func link(_ path: String, in root: String) -> String? {
      OwnFolder.linkOut(of: root, to: path).map { String($0.dropFirst(root.count + 1)) }
    }
    let found = [
      "inside/file", "in/new", "new/a", "out/a/b", "in/../lost", "up", "self/x",
    ].map { link(root + "/" + $0, in: root) }
    #expect(found == [nil, nil, nil, "out", "lost", "up", "self"])
    for path in [other.url.path, root, "/absent/x"] { #expect(link(path, in: root) == nil) }
    let door = other.file("door").path
    try FileManager.default.createSymbolicLink(atPath: door, withDestinationPath: root)
    #expect(
      link(door + "/inside/file", in: door) == nil && link(door + "/out/x", in: door) == "out")
  }

  @Test func `a path is followed as the kernel does where it goes up from behind a link`() throws {
    let folder = try TemporaryFolder()
    let root = folder.url.path
    try folder.write("", to: "inside/file")
    try folder.write("", to: "a/b/file")
    for (name, target) in [("a/b/in", "../../inside"), ("out", "/"), ("deep", "a/b")] {
      try FileManager.default.createSymbolicLink(
        atPath: root + "/" + name, withDestinationPath: target)
    }
    func link(_ path: String) -> String? {
      OwnFolder.linkOut(of: root, to: root + "/" + path)
        .map { String($0.dropFirst(root.count + 1)) }
    }
    // By its text a/b/in/../../x is in the folder; the kernel looks for x next to the folder.
    #expect(link("a/b/in/../../x") == "a/b/in")
    #expect(link("a/b/in/../x") == nil && link("deep/../../x") == nil)
    #expect(link("deep/../../out/x") == "out" && link("a/b/in/../out") == "out")
    // A path that leaves the folder by its text is not in it.
    #expect(link("../x") == nil && link("a/../../x") == nil)
    // Back through the folder's own name.
    let name = folder.url.lastPathComponent
    #expect(link("../\(name)/out/x") == "out")
  }

  @Test func `pipes and devices are refused without waiting for them`() throws {
    let folder = try TemporaryFolder()
    let pipe = folder.file("pipe").path
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect(refusal(pipe) == .special("a named pipe"))
    #expect(refusal(pipe, links: .followed) == .special("a named pipe"))
    #expect(refusal("/dev/zero") == .special("a device"))
    let link = folder.file("link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/zero")
    #expect(refusal(link, links: .followed) == .special("a device"))
  }
}
