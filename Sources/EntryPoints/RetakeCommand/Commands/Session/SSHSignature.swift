import Foundation
import Retake

/// Signatures by `ssh-keygen -Y`, which Git uses for commits, too.
enum SSHSignature {
  /// A signature for another purpose is not accepted for an archive.
  private static let namespace = "retake-session"
  private static let secondsMax = 60.0

  /// - Parameter key: A private key, or a public key whose private key an agent has.
  /// - Returns: The signature of the text.
  static func sign(_ text: String, key: String) throws -> String {
    try inFolder { folder in
      let file = folder + "/manifest"
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      let call = try keygen(["sign", "-q", "-f", absolute(key), "-n", namespace, file])
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
      let found = try keygen(["find-principals"] + known + ["-s", proof])
      let principal = found.lines.first ?? ""
      let call =
        found.isGood
        ? try keygen(
          ["verify"] + known + ["-I", principal, "-n", namespace, "-s", proof], input: file)
        : found
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
    var lines: [String]
    var words: String
  }

  /// - Parameter input: A file for standard input.
  private static func keygen(_ words: [String], input: String = "/dev/null") throws -> Call {
    var environment = ProcessInfo.processInfo.environment
    // No one answers here, so a passphrase must be an error and not a question.
    environment["SSH_ASKPASS"] = "/bin/false"
    environment["SSH_ASKPASS_REQUIRE"] = "force"
    environment["LC_ALL"] = "C"
    let output = Locked(Data())
    let script = "input=$1; shift; exec ssh-keygen -Y \"$@\" < \"$input\""
    let result = try BoundedProcess(
      executable: "/bin/sh", arguments: ["-c", script, "sh", input] + words,
      environment: environment, secondsMax: secondsMax,
      isInterrupted: { Interruption.isRequested },
      onOutput: { bytes in output.withLock { $0 += bytes } }
    ).run()
    if result.end == .interrupted { throw SessionError.interrupted }
    let text = String(decoding: output.withLock { $0 }, as: UTF8.self)
    return Call(
      isGood: result.end == .exited(0), lines: text.split(separator: "\n").map(String.init),
      words: result.closingResponse)
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
