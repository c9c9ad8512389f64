import Testing

/// Words of the command line that had another name before.
struct RenamedWordTests {
  @Test(arguments: [
    (["session", "doctor", "yard"], "'session doctor' was renamed; write 'session check'"),
    (["help", "session", "optimise"], "'session optimise' was renamed; write 'session transcode'"),
    (["session", "optimize", "yard"], "'session optimize' was renamed; write 'session transcode'"),
    (["record", "synthetic:pulse", "--mode", "lossless"], "record has no option '--mode'"),
    (["golden", "adopt", "--help"], "'golden adopt' was renamed; write 'golden sync-rules'"),
    (["golden", "fit"], "'golden fit' was renamed; write 'golden calibrate'"),
    (["record", "synthetic:pulse", "--ring", "3s"], "'--ring' was renamed; write '--pre-trigger'"),
    (
      ["record", "synthetic:pulse", "--pace=unpaced"],
      "'--pace' was renamed; write '--speed'"
    ),
    (["golden", "stale"], "'golden stale' was renamed; write 'golden list --stale'"),
    (
      ["replay", "yard", "--write-tape", "a"], "'--write-tape' was renamed; write '--write-timings'"
    ),
    (["accept", "--root", "a@0:1"], "'--root' was renamed; write '--root-cause'"),
    (
      ["replay", "yard", "--mode", "lossless"],
      "'--mode lossless' was renamed; write '--mode every-frame'"
    ),
    (["test", "--mode=redecide"], "'--mode redecide' was renamed; write '--mode simulate'"),
    (
      ["replay", "yard", "--mode", "reenact"],
      "'--mode reenact' was renamed; write '--mode reproduce'"
    ),
    (
      ["replay", "yard", "--pipeline", "a", "--costs", "tape:a.txt"],
      "'--costs tape:a.txt' was renamed; write '--costs timings:a.txt'"
    ),
  ])
  func `an old word ends with the new one`(words: [String], message: String) throws {
    let result = try Workplace().retake(words: words)

    #expect(result.status == 64)
    #expect(result.stderr.contains("error: \(message)"), "\(result.stderr)")
  }
}
