import Foundation
import RetakeCore
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// `retake store gc`: which objects it lists and removes.
@Suite struct StoreSweepTests {
  private func fixture() throws -> StoreFixture {
    let store = try StoreFixture()
    for name in ["yard", "gate"] { try store.write(name) }
    try store.store("*")
    try FileManager.default.removeItem(at: store.file("Recordings/gate.session.yml"))
    return store
  }

  private func age(_ store: StoreFixture, days: Double) throws {
    for name in store.fixture.files("store") {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -days * 86_400)],
        ofItemAtPath: store.file("store/\(name)").path)
    }
  }

  private func sweep(
    _ store: StoreFixture, deletes: Bool = false, _ places: String...
  ) throws -> StoreSweep.Report {
    var sweep = StoreSweep(project: try store.project(), remote: nil)
    sweep.deletes = deletes
    return try sweep.run(places)
  }

  @Test func `only old objects without a pointer are removed, and only on demand`() throws {
    let store = try fixture()
    try store.fixture.folder.write("part", to: "store/objects/ab/.ab12.1234ABCD.partial")
    #expect(try sweep(store, deletes: true).young == 3)
    try age(store, days: 8)
    let listed = try sweep(store)
    #expect(listed.unnamed.count == 3 && listed.named == 2 && listed.removed == 0)
    #expect(listed.unnamedBytes == 3_012 + 4)
    #expect(store.fixture.files("store").count == 5)
    #expect(try sweep(store, deletes: true).removed == 3)
    #expect(store.fixture.files("store").count == 2)
    #expect(try store.refusal("yard") == nil)
  }

  @Test func `a push that finds an old object protects it`() throws {
    let store = try fixture()
    try age(store, days: 8)
    // Its pointer is written when all of its objects are there.
    try store.write("gate")
    let files = try StorePush(project: store.project(), remote: nil).run(["gate"])
    #expect(files[0].sentBytes == 0)
    try FileManager.default.removeItem(at: store.file("Recordings/gate.session.yml"))
    let report = try sweep(store, deletes: true)
    #expect(report.young == 2 && report.removed == 0)
  }

  @Test func `an object that a push made young after its age was read stays`() throws {
    let store = try fixture()
    let sweep = StoreSweep(project: try store.project(), remote: nil)
    try store.fixture.folder.write("part", to: "store/objects/ab/.ab12.1234ABCD.partial")
    let files = store.fixture.files("store")
    for name in files {
      let file = store.file("store/\(name)")
      let bytes = try Data(contentsOf: file)
      #expect(try !sweep.remove(file.path))
      #expect(try Data(contentsOf: file) == bytes)
    }
    #expect(store.fixture.files("store") == files)
    try age(store, days: 8)
    let first = store.file("store/\(files[0])").path
    #expect(try sweep.remove(first))
    #expect(store.fixture.files("store") == Array(files.dropFirst()))
    #expect(try sweep.remove(first), "another gc has removed it")
  }

  @Test func `pointers of other folders count, and unreadable pointers stop it`() throws {
    let (store, other) = (try fixture(), try StoreFixture())
    try age(store, days: 8)
    try other.write("gate")
    try other.store("gate")
    let report = try sweep(store, deletes: true, ".", other.fixture.folder.url.path)
    #expect(report.named == 4 && report.unnamed.isEmpty)
    try store.fixture.folder.write("v: 2\n", to: "Recordings/door.session.yml")
    #expect(throws: SuiteError.self) { try sweep(store, deletes: true) }
    #expect(throws: SuiteError.self) { try sweep(store, deletes: true, "Goldens-none") }
    for name in ["door", "yard"] {
      try FileManager.default.removeItem(at: store.file("Recordings/\(name).session.yml"))
    }
    let error = #expect(throws: SuiteError.self) { try sweep(store, deletes: true) }
    #expect(error?.code == "suite.store.noPointers")
    #expect(store.fixture.files("store").count == 4)
  }

  @Test func `each named place must have pointers, in any of its folders`() throws {
    let store = try fixture()
    try age(store, days: 8)
    try store.fixture.folder.write("", to: "empty/Recordings/notes.txt")
    for (place, code) in [
      ("empty", "suite.store.noPointers"), ("absent", "suite.store.place"),
    ] {
      let error = #expect(throws: SuiteError.self) { try sweep(store, deletes: true, ".", place) }
      #expect(error?.code == code)
    }
    #expect(store.fixture.files("store").count == 4)
    // A repository with two projects: the pointers of both protect their sessions.
    try FileManager.default.createDirectory(
      at: store.file("sub/Recordings"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      at: store.file("Recordings/yard.session.yml"),
      to: store.file("sub/Recordings/yard.session.yml"))
    #expect(try sweep(store).named == 2)
    // A link to a folder, and a link that leads back.
    try FileManager.default.moveItem(at: store.file("sub"), to: store.file(".other"))
    for (name, place) in [("linked", ".other"), (".other/back", "..")] {
      try FileManager.default.createSymbolicLink(
        atPath: store.file(name).path, withDestinationPath: place)
    }
    #expect(try sweep(store).named == 2)
  }
}
