import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

@Suite struct SessionArchiveTests {
  private func workplace() throws -> Workplace {
    let workplace = try Workplace()
    let recordings = workplace.folder.file("Recordings")
    try FileManager.default.createDirectory(at: recordings, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: packageRoot.appending(path: "Tests/Sessions/schema-1-imported"),
      to: recordings.appending(path: "yard"))
    return workplace
  }

  /// Makes a key, and a file of signers that contains it.
  private func key(_ name: String, in workplace: Workplace) throws {
    let path = workplace.folder.file(name).path
    let made = try runCommand(
      "ssh-keygen", arguments: ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path])
    try #require(made.status == 0, "\(made)")
    let line = try String(contentsOfFile: path + ".pub", encoding: .utf8)
    try workplace.folder.write("\(name)@example.org \(line)", to: "\(name).signers")
  }

  @Test func `a session is packed, and unpacked under its name or another`() throws {
    let workplace = try workplace()
    let packed = try workplace.retake("session", "pack", "yard")
    #expect(packed.status == 0, "\(packed)")
    #expect(packed.stdout.hasPrefix("yard.tar.zst  3 files, "), "\(packed)")
    let again = try workplace.retake("session", "pack", "yard")
    #expect(again.status == 2 && again.stderr.contains("[session.export.exists]"), "\(again)")
    let taken = try workplace.retake("session", "unpack", "yard.tar.zst")
    #expect(taken.status == 2 && taken.stderr.contains("[session.name.taken]"), "\(taken)")
    let other = try workplace.retake("session", "unpack", "yard.tar.zst", "--name", "other")
    #expect(other.status == 0 && other.stdout.hasPrefix("clean  20 frames  "), "\(other)")
    #expect(try workplace.retake("session", "check", "other").status == 0)
    let into = try workplace.retake("session", "unpack", "yard.tar.zst", "--into", "In", "--json")
    #expect(try into.json().frames.int == 20, "\(into)")
    #expect(workplace.exists("In/yard/session.sqlite"))
    try workplace.folder.write("not an archive", to: "text.tar.zst")
    let text = try workplace.retake("session", "unpack", "text.tar.zst")
    #expect(text.status == 2 && text.stderr.contains("[session.archive.form]"), "\(text)")
  }

  @Test(.enabled(if: ChildProcess.path(of: "ssh-keygen") != nil, "ssh-keygen is not installed"))
  func `only an archive of a known signer is unpacked`() throws {
    let workplace = try workplace()
    try key("author", in: workplace)
    try key("stranger", in: workplace)
    let signed = try workplace.retake(
      "session", "pack", "yard", "--as", "signed.tar.zst", "--sign", "author")
    #expect(signed.status == 0 && signed.stdout.contains(", signed\n"), "\(signed)")
    func unpack(_ file: String, _ signers: String, into: String) throws -> CommandResult {
      try workplace.retake("session", "unpack", file, "--into", into, "--signers", signers)
    }
    let stranger = try unpack("signed.tar.zst", "stranger.signers", into: "A")
    #expect(
      stranger.status == 2 && stranger.stderr.contains("[session.archive.signature]"),
      "\(stranger)")
    try workplace.retake("session", "pack", "yard", "--as", "plain.tar.zst")
    let plain = try unpack("plain.tar.zst", "author.signers", into: "A")
    #expect(plain.status == 2 && plain.stderr.contains("[session.archive.unsigned]"), "\(plain)")
    #expect(!workplace.exists("A"))
    let known = try unpack("signed.tar.zst", "author.signers", into: "A")
    #expect(known.status == 0 && workplace.exists("A/yard"), "\(known)")
    // ssh-keygen warns about the first line, and the key has two names.
    let line = try String(contentsOf: workplace.folder.file("author.signers"), encoding: .utf8)
    try workplace.folder.write("no-key\nother@example.org,\(line)", to: "more.signers")
    let warned = try unpack("signed.tar.zst", "more.signers", into: "C")
    #expect(warned.status == 0 && workplace.exists("C/yard"), "\(warned)")
    try workplace.folder.write("no-key\n", to: "none.signers")
    let none = try unpack("signed.tar.zst", "none.signers", into: "D")
    #expect(none.status == 2 && none.stderr.contains("[session.archive.signature]"), "\(none)")
    #expect(none.stderr.contains("none.signers:1: ") && !workplace.exists("D"), "\(none)")
    let unchecked = try workplace.retake("session", "unpack", "signed.tar.zst", "--into", "B")
    #expect(unchecked.status == 0 && unchecked.stderr.contains("--signers FILE"), "\(unchecked)")
    let nobody = try workplace.retake(
      "session", "pack", "yard", "--as", "c.tar.zst", "--sign", "missing")
    #expect(
      nobody.status == 2 && nobody.stderr.contains("[session.archive.notSigned]"), "\(nobody)")
    #expect(!workplace.exists("c.tar.zst"))
  }
}
