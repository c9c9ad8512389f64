import Foundation
import Retake

/// Signatures by `ssh-keygen -Y`, which Git uses for commits, too.
enum SSHSignature {
  /// A signature for another purpose is not accepted for an archive.
  private static let namespace = "retake-session"
  private static let secondsMax = 60.0
  /// Bytes of the standard output that are read.
  private static let outputBytesMax = 1 << 16
  /// A key of more principals is not tried for all of them.
  private static let principalsMax = 100

  /// - Parameter key: A private key, or a public key whose private key an agent has.
  /// - Returns: The signature of the text.
  static func sign(_ text: String, key: String) throws -> String {
    try inFolder { folder in
      let file = folder + "/manifest"
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      let call = try keygen(
        ["sign", "-q", "-f", absolute(key), "-n", namespace, file], in: folder)
      let signature = try? RegularFile.contents(file + ".sig", bytesMax: 1 << 16)
      guard call.isGood, let signature else {
        throw ErrorFacts(
          "session.archive.notSigned", "ssh-keygen could not sign with this key",
          cause: call.words, at: key,
          advice: "Name a key without a passphrase, or add it to the agent: "
            + "ssh-add \(key.shellWord)")
      }
      return String(decoding: signature, as: UTF8.self)
    }
  }

  /// - Parameter signers: A file of principals and their public keys (`man ssh-keygen`, allowed
  ///   signers).
  /// - Throws: An error for a signature that no signer of the file has made for this text.
  static func check(_ text: String, _ signature: String, signers: String) throws {
    try inFolder { folder in
      let (file, proof) = (folder + "/manifest", folder + "/manifest.sig")
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      try Data(signature.utf8).write(to: URL(fileURLWithPath: proof))
      let known = ["-f", absolute(signers)]
      var call = try keygen(["find-principals"] + known + ["-s", proof], in: folder)
      let principals = call.isGood ? call.lines.prefix(principalsMax) : []
      // Without a principal the signature is not good, even if the search was.
      call.isGood = false
      for principal in principals where !call.isGood {
        call = try keygen(
          ["verify"] + known + ["-I", principal, "-n", namespace, "-s", proof], input: file,
          in: folder)
      }
      guard call.isGood else {
        throw ErrorFacts(
          "session.archive.signature", "no signer of this file has signed the archive",
          cause: call.words, at: signers,
          advice: "Ask the author for the public key, and add a line: NAME ssh-ed25519 KEY")
      }
    }
  }

  private struct Call {
    var isGood: Bool
    /// Of the standard output. Warnings, such as about a line of the signers, are not among them.
    var lines: [String]
    /// Of both outputs.
    var words: String
  }

  /// - Parameters:
  ///   - input: A file for standard input.
  ///   - folder: A folder for standard output.
  private static func keygen(
    _ words: [String], input: String = "/dev/null", in folder: String
  ) throws -> Call {
    var environment = ProcessInfo.processInfo.environment
    // No one answers here, so a passphrase must be an error and not a question.
    environment["SSH_ASKPASS"] = "/bin/false"
    environment["SSH_ASKPASS_REQUIRE"] = "force"
    environment["LC_ALL"] = "C"
    let output = folder + "/output"
    let script = "in=$1; out=$2; shift 2; exec ssh-keygen -Y \"$@\" < \"$in\" > \"$out\""
    let result = try BoundedProcess(
      executable: "/bin/sh", arguments: ["-c", script, "sh", input, output] + words,
      environment: environment, secondsMax: secondsMax,
      isInterrupted: { Interruption.isRequested }
    ).run()
    if result.end == .interrupted { throw SessionError.interrupted }
    let data = (try? RegularFile.head(output, count: outputBytesMax)) ?? Data()
    let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
      .map(String.init)
    return Call(
      isGood: result.end == .exited(0), lines: lines,
      words: ([result.closingResponse].filter { !$0.isEmpty } + lines).joined(separator: " | "))
  }

  private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).path }

  private static func inFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.path + "/retake-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
  }
}
