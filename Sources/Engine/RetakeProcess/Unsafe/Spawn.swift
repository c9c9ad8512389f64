import CSpawn
import Foundation

/// The system calls that start a process and read its exit status.
enum Spawn {
  // SAFETY: every string is copied with `strdup` and freed after posix_spawn has returned, which
  // does not keep its arguments; the attributes and actions are destroyed in the same function.

  /// The descriptors of a child's standard streams, and the first one after them.
  private static let (input, output, errors): (Int32, Int32, Int32) = (0, 1, 2)
  static let firstOther: Int32 = 3

  /// - Returns: the ID of the new process.
  static func start(_ request: ChildProcess.Request) throws -> Int32 {
    _ = keepsStatuses
    let executable = absolute(request.executable)
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    connect(request.input, input, &actions)
    connect(request.output, output, &actions)
    connect(request.errors, errors, &actions)
    for (index, number) in request.descriptors.enumerated() {
      precondition(number >= ChildProcess.descriptorMin, "a file for a child has a high number")
      posix_spawn_file_actions_adddup2(&actions, number, firstOther + Int32(index))
    }
    if let folder = request.folder { posix_spawn_file_actions_addchdir_np(&actions, folder) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    setSignals(&attributes)
    posix_spawnattr_setpgroup(&attributes, request.group ?? 0)
    #if os(Linux)
      // Some of this process's files may not be close-on-exec, so they are closed explicitly.
      posix_spawn_file_actions_addclosefrom_np(
        &actions, firstOther + Int32(request.descriptors.count))
    #endif
    let environment = request.environment ?? ProcessInfo.processInfo.environment
    var words = ([executable] + request.arguments).map { strdup($0) } + [nil]
    // Sorted, so that the order of a dictionary does not reach the child.
    var variables = environment.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") }
    variables.append(nil)
    defer { for text in words + variables { free(text) } }
    var id: pid_t = 0
    let failure = posix_spawn(&id, executable, &actions, &attributes, &words, &variables)
    guard failure == 0 else {
      throw ChildProcessError(executable: request.executable, number: failure)
    }
    return id
  }

  /// Makes the path absolute, because the child changes its folder before the program is opened.
  private static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  #if canImport(Darwin)
    private typealias Actions = posix_spawn_file_actions_t?
    private typealias Attributes = posix_spawnattr_t?
  #else
    private typealias Actions = posix_spawn_file_actions_t
    private typealias Attributes = posix_spawnattr_t
  #endif

  private static func connect(
    _ stream: ChildProcess.Stream, _ number: Int32, _ actions: inout Actions
  ) {
    let isInput = number == input
    switch stream {
    case .null: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
    case .inherited:
      #if canImport(Darwin)
        posix_spawn_file_actions_addinherit_np(&actions, number)
      #endif
    case .file(let path):
      let flags = isInput ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
      posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o644)
    case .pipe(let pipe):
      posix_spawn_file_actions_adddup2(
        &actions, (isInput ? pipe.readEnd : pipe.writeEnd) ?? -1, number)
    case .socket(let socket):
      posix_spawn_file_actions_adddup2(&actions, socket.childEnd ?? -1, number)
    }
  }

  /// A process group, with no signal blocked or ignored, whatever the state of the starting thread.
  private static func setSignals(_ attributes: inout Attributes) {
    var flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    #if canImport(Darwin)
      flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
    #endif
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
  }

  /// Restores SIGCHLD if it is ignored, which a program can inherit: the system would discard exit
  /// statuses.
  private static let keepsStatuses: Void = {
    var now = sigaction()
    guard sigaction(SIGCHLD, nil, &now) == 0 else { return }
    #if canImport(Darwin)
      let handler = now.__sigaction_u.__sa_handler
    #else
      let handler = now.__sigaction_handler.sa_handler
    #endif
    // SAFETY: the bits are only compared: SIG_IGN is the number 1 instead of a function.
    if unsafeBitCast(handler, to: Int.self) == 1 { signal(SIGCHLD, SIG_DFL) }
  }()

  /// Waits for the end of a child without reaping it, so that its ID is not reused.
  static func waitUntilEnded(_ id: Int32) {
    var information = siginfo_t()
    // Ends: only an interruption by a signal to this process causes another attempt.
    while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
  }

  /// Reaps an ended child and returns its status; its ID may be reused afterwards.
  static func takeStatus(_ id: Int32) -> ChildProcess.End {
    var status: Int32 = 0
    var taken: pid_t
    repeat { taken = waitpid(id, &status, 0) } while taken < 0 && errno == EINTR
    guard taken == id else { return .exited(ChildProcess.statusUnknown) }
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
  }
}
