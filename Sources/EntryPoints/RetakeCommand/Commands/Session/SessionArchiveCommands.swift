import ArgumentParser
import Foundation
import Retake

struct SessionPackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack", abstract: "Write a session into one file, to send it to others.",
    discussion: """
      The file is a tar archive in Zstandard with the SHA-256 of each file. The same session makes \
      the same file.

      Examples:
        retake session pack yard                                 # writes yard.tar.zst
        retake session pack yard --as /mnt/usb/yard.tar.zst --json
        retake session pack yard --sign ~/.ssh/id_ed25519
      """)

  @OptionGroup var session: SessionArgument
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("The file to write; NAME.tar.zst if not given.", valueName: "file"))
  var file: String?
  @Option(help: ArgumentHelp("Sign the archive with this SSH key.", valueName: "key"))
  var sign: String?
  @OptionGroup var output: OutputOptions

  func run() throws {
    let path = try session.path(in: try CommandEnvironment.current.project())
    let file = self.file ?? URL(fileURLWithPath: path).lastPathComponent + ".tar.zst"
    var signer: (@Sendable (String) throws -> String)?
    if let sign { signer = { text in try SSHSignature.sign(text, key: sign) } }
    let result = try SessionProgress.shown("packing", output, megabytes: "packing MiB") { report in
      try SessionPack(of: path, as: file, sign: signer, report: report).run()
    }
    guard !output.json else { return try Console.json(result) }
    Console.result(
      "\(visible(result.file))  \(counted(result.files, "file")), \(ByteText.of(result.bytes))"
        + (result.isSigned ? ", signed" : ""))
    Console.result("  unpack it with: retake session unpack \(visible(result.file.shellWord))")
  }
}

struct SessionUnpackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpack", abstract: "Make a session of a file that 'session pack' wrote.",
    discussion: """
      The file may come from anyone: only the files of a session are written, each with its SHA-256, \
      and the session appears after all checks.

      Examples:
        retake session unpack yard.tar.zst
        retake session unpack yard.tar.zst --into Incoming --name yard-customer
        retake session unpack yard.tar.zst --signers allowed_signers
      """)

  @Argument(help: "The file.")
  var file: String
  @Option(help: "The folder that the session's folder is made in; Recordings if not given.")
  var into: String?
  @Option(help: "The session's name; the name that it had if not given.")
  var name: String?
  @Option(
    help: ArgumentHelp(
      "Accept only an archive that a key of this file signed: lines 'NAME KEY', see ssh-keygen.",
      valueName: "file"))
  var signers: String?
  @OptionGroup var output: OutputOptions

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let target = SessionTarget(into: into ?? project.recordings, name: name)
    var check: (@Sendable (String, String) throws -> Void)?
    if let signers {
      check = { text, signature in try SSHSignature.check(text, signature, signers: signers) }
    }
    let result = try SessionProgress.shown(
      "unpacking", output, megabytes: "unpacking MiB"
    ) { report in
      try SessionUnpack(of: file, to: target, verify: check, report: report).run()
    }
    try SessionCopyText.tell(result, output, in: project)
  }
}
