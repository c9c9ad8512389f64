import Foundation
import RetakeReplay
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Stores that rclone reads and writes. The remote is a folder of this machine: rclone's own tests
/// cover the protocols.
@Suite struct RcloneStoreTests {
  private static let isInstalled =
    (try? runCommand("rclone", arguments: ["version"]).status) == 0

  private func withVariables<Result>(
    _ variables: [String: String], _ body: () throws -> Result
  ) rethrows -> Result {
    let context = ProcessContext(
      variables: ProcessInfo.processInfo.environment.merging(variables) { $1 },
      output: .nullDevice, errors: .nullDevice)
    return try ProcessContext.$current.withValue(context, operation: body)
  }

  private func fixture() throws -> StoreFixture {
    var store = try StoreFixture()
    store.remote = "rclone:disk:\(store.file("store").path)"
    return store
  }

  @Test func `without rclone the error names the package`() throws {
    let store = try fixture()
    try store.write("yard")
    let error = #expect(throws: SuiteError.self) {
      try withVariables(["PATH": "/nonexistent"]) { try store.store("yard") }
    }
    #expect(error?.facts.code == "suite.store.noRclone")
    #expect(error?.facts.advice?.contains("apt-get install rclone") == true)
  }

  /// The variable PATH with a script in place of rclone.
  private func programs(_ store: StoreFixture, _ script: String) throws -> String {
    let file = try store.fixture.folder.write("#!/bin/sh\n\(script)\n", to: "bin/rclone")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    return "\(store.file("bin").path):/usr/bin:/bin"
  }

  @Test func `a file that changes while it is sent does not stay as an object`() throws {
    let store = try fixture()
    try store.write("yard")
    let database = store.file("Recordings/yard/session.sqlite").path
    let path = try programs(
      store,
      """
      case "$3" in
      copy) mkdir -p "${7#disk:}" && cp -RL "$6/." "${7#disk:}" && echo note >> '\(database)' ;;
      deletefile) rm "${4#disk:}" ;;
      esac
      """)
    let error = #expect(throws: SuiteError.self) {
      try withVariables(["PATH": path]) { try store.store("yard") }
    }
    #expect(error?.code == "suite.store.changed")
    #expect(!store.exists("Recordings/yard.session.yml"))
    // The media.
    #expect(store.fixture.files("store/objects").count == 1)
  }

  @Test func `a remote that cannot be compared is an error, not an empty store`() throws {
    let store = try fixture()
    try store.write("yard")
    // It compares the first of two files, and fails.
    let path = try programs(
      store, "cd \"$8\" && for f in */*; do echo \"= $f\"; break; done; echo denied >&2; exit 1")
    let error = #expect(throws: SuiteError.self) {
      try withVariables(["PATH": path]) { try store.store("yard") }
    }
    #expect(error?.code == "suite.store.rclone" && error?.cause?.contains("denied") == true)
    #expect(!store.exists("Recordings/yard.session.yml"))
  }

  @Test func `objects that arrived before an error are not fetched again`() throws {
    let store = try StoreFixture()
    try store.write("yard", media: 2)
    try store.store("yard")
    var pointer = try store.pointer("yard")
    func name(_ remote: String) throws {
      pointer.remotes = [remote]
      try store.fixture.folder.write(pointer.text, to: "Recordings/yard.session.yml")
    }
    // It copies the first of three objects, and fails.
    let path = try programs(
      store,
      """
      object=$(head -n 1 "$6")
      mkdir -p "$8/${object%/*}"
      cp "${7#disk:}/$object" "$8/$object"
      exit 1
      """)
    try name("rclone:disk:\(store.file("store").path)")
    let code = try withVariables(["PATH": path]) { try store.refusal("yard") }
    #expect(code == "suite.store.rclone")
    // A network that fails: another machine, or a later attempt, may succeed.
    #expect(Infrastructure.isCause(of: SuiteError.rclone("disk:", cause: "exit 1")))
    try name("store")
    #expect(try StorePull(project: store.project()).run([])[0].fetchedBytes == 3_012)
  }

  @Test func `variables of Amazon's tools name the server, and the user's own win`() {
    let plain = RcloneStore.environment(of: [:])
    #expect(plain["RCLONE_S3_ENV_AUTH"] == "true" && plain["RCLONE_S3_PROVIDER"] == "AWS")
    #expect(plain["RCLONE_S3_ENDPOINT"] == nil)
    let other = RcloneStore.environment(of: [
      "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "RCLONE_S3_PROVIDER": "Minio",
      "AWS_CA_BUNDLE": "/etc/ca.pem",
    ])
    #expect(other["RCLONE_CA_CERT"] == "/etc/ca.pem" && other["AWS_CA_BUNDLE"] == nil)
    #expect(other["RCLONE_S3_ENDPOINT"] == "http://127.0.0.1:9")
    #expect(other["RCLONE_S3_PROVIDER"] == "Minio")
  }

  @Test(.enabled(if: isInstalled, "rclone is not installed"))
  func `a remote keeps sessions as a folder does, and 20 of 20 damaged objects are refused`()
    throws
  {
    try withVariables(["RCLONE_CONFIG_DISK_TYPE": "local"]) {
      let store = try fixture()
      let names = (10..<30).map { "yard-\($0)" }
      for name in names + ["gate"] { try store.write(name) }
      try store.store("*")
      #expect(try store.pointer("gate").remotes == [store.remote])
      let kinds: [SessionStoreTests.Damage] = [.flipped, .cut, .longer, .empty, .missing]
      for (seed, name) in names.enumerated() {
        try kinds[seed % 5].make(store.media(name), seed: seed, other: Data())
      }
      let codes = try names.map { try store.refusal($0) }
      #expect(codes.allSatisfy { $0 == "suite.store.damaged" || $0 == "suite.store.missing" })
      #expect(try store.cached().isEmpty)
      let check = try StoreCheck(project: store.project(), remote: nil).run([])
      #expect(check.findings.map(\.session) == names)
      let pull = { try StorePull(project: store.project()).run(["gate"])[0].fetchedBytes }
      #expect(try pull() == 3_012)
      #expect(try pull() == 0)
      // The parts of the others that were fetched are not fetched again.
      try store.write("yard-14")
      let pushed = try StorePush(project: store.project(), remote: store.remote).run(["yard-14"])
      #expect(pushed[0].sentBytes == 3_000)
      // One bit of it was changed, and the remote's hash shows it.
      try store.write("yard-10")
      let repaired = try StorePush(project: store.project(), remote: store.remote)
      #expect(try repaired.run(["yard-10"])[0].sentBytes == 3_000)
      #expect(try repaired.run(["yard-10"])[0].sentBytes == 0)
      try FileManager.default.removeItem(at: store.file("Recordings/yard-14"))
      #expect(try StorePull(project: store.project()).run(["yard-14"])[0].fetchedBytes == 3_000)
    }
  }
}
