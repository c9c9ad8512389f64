import Foundation
import RetakeTestSupport
import Testing

/// The cache as users see it: on the command line, on full disks and in places that cannot be
/// written.
@Suite struct CacheCommandTests {
  private static let pipeline = ["--pipeline", "motion.json"]

  private func workplace(frames: Int = 20) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: frames, size: "96x64")
    try workplace.writePipeline()
    return workplace
  }

  /// Runs `retake` with a folder that cannot be written.
  private func readOnly(
    _ folder: String, _ words: [String], in workplace: Workplace
  ) throws -> CommandResult {
    let script = """
      mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$2" || exit 99
      shift 2; exec "$0" "$@"
      """
    let path = workplace.folder.url.path
    return try runCommand(
      "unshare",
      arguments: [
        "-m", "bash", "-c", script, Workplace.binary, folder.isEmpty ? path : "\(path)/\(folder)",
        path,
      ] + words,
      environment: [
        "CI": nil, "RETAKE_PENDING_DIR": nil, "RETAKE_CACHE_KEY": Workplace.cacheKey,
      ], folder: workplace.folder.url)
  }

  @Test func `test says in its summary and in JSON what the cache did`() throws {
    let workplace = try workplace()
    let test = ["test", "yard"] + Self.pipeline
    let first = try workplace.retake(words: test)
    #expect(
      first.status == 3 && first.stdout.contains("\ncache  no value came from it, "),
      "\(first.stdout)")
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
    let warm = try workplace.retake(words: test + ["--json"]).json().totals.cache
    #expect(warm.known.int.map { $0 > 0 } == true)
    #expect(warm.computed.int == 0 && warm.damaged.int == 0 && warm.keptBytes.int == 0)
    #expect(warm.failure.text == nil)
    let none = try workplace.retake(words: test + ["--cache", "none"])
    #expect(none.status == 0 && !none.stdout.contains("\ncache  "))
    #expect(
      try workplace.retake(words: test + ["--cache", "none", "--json"]).json().totals.cache.value
        == nil)
  }

  @Test func `another build of the program computes every stage again`() throws {
    let workplace = try workplace()
    let test = ["test", "yard", "--json"] + Self.pipeline
    let first = try workplace.retake(words: test).json().totals.cache
    let again = try workplace.retake(words: test).json().totals.cache
    #expect(again.computed.int == 0 && again.known.int == first.computed.int)
    // Bytes after the sections of a program change its digest and not its behavior.
    let other = workplace.folder.file("other-retake")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: Workplace.binary))
    bytes.append(0)
    try bytes.write(to: other)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: other.path)
    let result = try runCommand(
      other.path, arguments: test,
      environment: ["CI": nil, "RETAKE_CACHE_KEY": Workplace.cacheKey], folder: workplace.folder.url
    )
    let cache = try result.json().totals.cache
    #expect(cache.computed.int.map { $0 > 0 } == true, "\(result.stdout)")
    #expect((cache.known.int ?? 0) + (cache.computed.int ?? 0) == first.computed.int)
  }

  @Test func `a cache that came with the repository is not used, and the run says so`() throws {
    let workplace = try workplace()
    let test = ["test", "yard"] + Self.pipeline
    #expect(try workplace.retake(words: test).status == 3)
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
    #expect(try workplace.retake(words: test).stdout.contains(", 0 computed"))

    // Written by another user, with correct checksums.
    let foreign = try workplace.retake(
      words: test, environment: ["RETAKE_CACHE_KEY": "the key of somebody else"])
    #expect(foreign.status == 0)
    #expect(foreign.stdout.contains("cache  no value came from it, "), "\(foreign.stdout)")
    #expect(foreign.stdout.contains("made elsewhere: not used"), "\(foreign.stdout)")

    let git = { (words: String...) in
      try runCommand(
        "git", arguments: ["-c", "user.name=t", "-c", "user.email=t@t"] + words,
        folder: workplace.folder.url
      ).status
    }
    #expect(try git("init", "-q") == 0)
    #expect(try git("add", "-f", ".retake/cache/retake-cache.json") == 0)
    let tracked = try workplace.retake(words: test)
    #expect(tracked.status == 0 && !tracked.stdout.contains("\ncache  "), "\(tracked.stdout)")
    #expect(
      tracked.stdout.contains("git tracks it ('retake-cache.json')"), "\(tracked.stdout)")
    let named = try workplace.retake(words: test + ["--cache", "auto"])
    #expect(named.status == 2 && named.stderr.contains("git rm -r --cached"), "\(named.stderr)")
  }

  @Test(.enabled(if: Faults.mounts, "unshare may not mount here"))
  func `test passes in a project that cannot be written, and says what it could not keep`() throws {
    let workplace = try workplace()
    let test = ["test", "yard"] + Self.pipeline
    #expect(try workplace.retake(words: test + ["--cache", "none"]).status == 3)
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
    let passed = try readOnly("", test, in: workplace)
    #expect(passed.status == 0, "\(passed.stdout) \(passed.stderr)")
    #expect(passed.stdout.contains("note: no cache: "))
    #expect(passed.stdout.contains("/.retake/cache: "))
    #expect(!passed.stdout.contains("no pending golden"))

    // An existing cache is read, and new values are not stored.
    #expect(try workplace.retake(words: test).status == 0)
    try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 60")
    let changed = try readOnly("", test, in: workplace)
    #expect(changed.status == 1, "\(changed.stdout) \(changed.stderr)")
    #expect(changed.stdout.contains("no pending golden of yard/motion-boxes: "))
    #expect(changed.stdout.contains("RETAKE_PENDING_DIR=DIR"))
    #expect(try readOnly("", test + ["--cache", "auto"], in: workplace).status == 1)
    let json = try readOnly(
      "", ["test", "yard", "--pipeline", "example:downsample-digest", "--json"], in: workplace)
    #expect(json.status == 3, "\(json.stdout) \(json.stderr)")
    let cache = try json.json().totals.cache
    #expect(cache.keptBytes.int == 0 && cache.computed.int.map { $0 > 0 } == true)
    #expect(
      cache.failure.text?.hasPrefix("Read-only file system: /") == true, "\(cache.value as Any)")
  }

  @Test(.enabled(if: Faults.mounts, "unshare may not mount a tmpfs here"))
  func `on a full disk only what is there counts as kept`() throws {
    let workplace = try workplace(frames: 200)
    let script = """
      mkdir disk && mount -t tmpfs -o size=600k tmpfs disk || exit 99
      "$0" replay yard --pipeline example:downsample-digest --cache disk/cache --json || exit
      find disk -name '*.pack' -printf '%s\\n' | awk '{ sum += $1 } END { print sum + 0 }' > sum
      find disk -name '.writing-*' | wc -l > left
      """
    let result = try runCommand(
      "unshare", arguments: ["-m", "bash", "-c", script, Workplace.binary],
      environment: ["CI": nil, "RETAKE_CACHE_KEY": Workplace.cacheKey],
      folder: workplace.folder.url)
    #expect(result.status == 0, "\(result.stderr)")
    let cache = try result.json().cache
    let text = { (name: String) in
      try String(contentsOf: workplace.folder.file(name), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
    #expect(try cache.bytesWritten.int.map(String.init) == text("sum"))
    #expect(try text("left") == "0")
    #expect(
      cache.failure.text?.hasPrefix("No space left on device: /") == true, "\(cache.value as Any)")
  }

  @Test(.enabled(if: Faults.mounts, "unshare may not mount here"))
  func `prune of a cache that cannot be written says so`() throws {
    let workplace = try workplace()
    let cache = ["--cache", "kept"]
    #expect(
      try workplace.retake(words: ["replay", "yard"] + Self.pipeline + cache).status == 0)
    for words in [["--all"], []] {
      let result = try readOnly("kept", ["cache", "prune"] + words + cache, in: workplace)
      #expect(result.status == 2 && result.stdout.isEmpty, "\(result.stdout)")
      #expect(
        result.stderr.contains("/kept: this could not be removed from the cache"),
        "\(result.stderr)")
      #expect(result.stderr.contains("(Read-only file system) [replay.cache.notRemoved]"))
    }
    let pruned = try workplace.retake(words: ["cache", "prune", "--all"] + cache)
    #expect(pruned.status == 0 && pruned.stdout.hasSuffix(" removed\n"))
  }

  @Test(arguments: [["info"], ["verify"], ["prune"], ["prune", "--all"]])
  func `looking after a cache that is none makes none`(command: [String]) throws {
    let workplace = try Workplace()
    let make = { (name: String) in
      try FileManager.default.createDirectory(
        at: workplace.folder.file(name), withIntermediateDirectories: true)
    }
    try make("empty")
    try workplace.folder.write("mine", to: "file")
    try FileManager.default.createSymbolicLink(
      atPath: workplace.folder.file("link").path, withDestinationPath: "nowhere")
    let before = try workplace.listing()
    for (name, code) in [
      ("absent", "missing"), ("empty", "empty"), ("file", "notFolder"), ("link", "deadLink"),
    ] {
      let result = try workplace.retake(words: ["cache"] + command + ["--cache", name])
      #expect(result.status == 2, "\(name): \(result.stdout)")
      let lines = result.stderr.split(separator: "\n")
      #expect(lines.count == 2, "\(result.stderr)")
      #expect(lines.first?.contains("/\(name): ") == true, "\(result.stderr)")
      #expect(lines.first?.hasSuffix("[replay.cache.\(code)]") == true, "\(result.stderr)")
    }
    #expect(try workplace.retake(words: ["cache"] + command).status == 2)
    #expect(try workplace.listing() == before && !workplace.exists(".retake"))
  }

  @Test func `info names what a run left behind, and tracks without a name`() throws {
    let workplace = try workplace()
    #expect(
      try workplace.retake(words: ["replay", "yard"] + Self.pipeline + ["--cache", "kept"]).status
        == 0)
    let scope = try #require(
      try FileManager.default.contentsOfDirectory(atPath: workplace.folder.file("kept").path)
        .first { $0.count == 32 })
    let left = ".writing-pixels-1"
    try workplace.folder.write("half", to: "kept/\(scope)/\(left)")
    try FileManager.default.removeItem(at: workplace.folder.file("kept/\(scope)/about.json"))
    let info = try workplace.retake("cache", "info", "--cache", "kept")
    #expect(info.stdout.contains("of an unknown session, \(scope)  "), "\(info.stdout)")
    #expect(info.stdout.contains("  \(left), 4 bytes: unfinished"), "\(info.stdout)")
    #expect(info.stderr.contains("1 unfinished file of ended runs, 4 bytes: retake cache prune"))
    let json = try workplace.retake("cache", "info", "--cache", "kept", "--json").json()
    #expect(json[0].leftovers[0].name.text == left && json[0].session.text == nil)
    #expect(try workplace.retake("cache", "prune", "--cache", "kept").stdout == "4 bytes removed\n")
    #expect(!workplace.exists("kept/\(scope)/\(left)"))
  }

  @Test func `a folder with the name of such a word is written with its place`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake("cache", "info", "--cache", "./off")
    #expect(result.status == 2 && result.stderr.contains("off"), "\(result.stderr)")
    #expect(!result.stderr.contains("is not accepted"))
  }

  @Test(arguments: [
    (["replay", "yard", "--cache", ""], "is empty: write auto, none, or a folder"),
    (["test", "--cache", ""], "is empty: write auto, none, or a folder"),
    (
      ["test", "--cache", "off"],
      "'--cache off' is not accepted: write none for no cache, auto for the cache of the "
        + "project, or ./off for a folder"
    ),
    (["replay", "yard", "--cache", "None"], "write none for no cache"),
    (["test", "--cache", "false"], "write none for no cache"),
    (["cache", "info", "--cache", "NO"], "write auto, or ./NO for a folder"),
    (["test", "--jobs", "-1"], "'-1' is invalid for '--jobs <jobs>': it is not between 1 and 64"),
    (
      ["test", "--jobs", "abc"], "'abc' is invalid for '--jobs <jobs>': it is not between 1 and 64"
    ),
    (["test", "--jobs", "65"], "it is not between 1 and 64"),
    (["test", "--workers", "-1"], "it is not between 0 and 256"),
    (["test", "--watchdog", "-1"], "it is not between 0 and 86400 seconds"),
    (["replay", "yard", "--workers", "-1"], "it is not between 0 and 256"),
    (["replay", "yard", "--workers", "x"], "it is not between 0 and 256"),
    (["replay", "yard", "--seed", "-1"], "it is not a whole number, 0 or more"),
    (["cache", "warm", "yard", "--workers", "-1"], "it is not between 0 and 256"),
    (["diff", "--base", "main", "--workers", "-1"], "it is not between 0 and 256"),
    (["golden", "calibrate", "yard", "--runs", "-1"], "it is not between 0 and 100"),
    (["report", "serve", "--port", "-1"], "it is not between 0 and 65535"),
    (["record", "synthetic:figures", "--frames", "abc"], "it is not a whole number"),
    (["pipeline", "check", "a.json", "--items", "-1"], "it is not between 1 and 10000"),
    (["session", "export", "yard", "--media", "a.mkv", "--track", "-1"], "0 or more"),
    (["cache", "prune", "--limit", "5"], "a whole number with its unit (KB, MB, GB"),
    (["cache", "prune", "--limit", "-5MB"], "is not a size such as 500MB or 2GiB"),
  ])
  func `a word that cannot be is told with what can`(words: [String], says: String) throws {
    let workplace = try Workplace()
    let result = try workplace.retake(words: words)
    #expect(result.status == 64 && result.stderr.contains(says), "\(result.stderr)")
    #expect(!result.stderr.contains("Missing value"))
    #expect(try workplace.listing().isEmpty)
  }
}
