import Testing

/// Words of the command line that had another name before.
struct RenamedWordTests {
  @Test(arguments: [
    (["session", "doctor", "yard"], "'session doctor' was renamed; write 'session check'"),
    (["help", "session", "optimise"], "'session optimise' was renamed; write 'session transcode'"),
    (["golden", "adopt", "--help"], "'golden adopt' was renamed; write 'golden sync-rules'"),
    (["golden", "fit"], "'golden fit' was renamed; write 'golden calibrate'"),
    (["record", "synthetic:pulse", "--ring", "3s"], "'--ring' was renamed; write '--pre-trigger'"),
    (
      ["record", "synthetic:pulse", "--pace=unpaced"],
      "'--pace' was renamed; write '--speed'"
    ),
  ])
  func `an old word ends with the new one`(words: [String], message: String) throws {
    let result = try Workplace().retake(words: words)

    #expect(result.status == 64)
    #expect(result.stderr.contains("error: \(message)"), "\(result.stderr)")
  }
}
