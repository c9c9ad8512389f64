import Foundation
import RetakeTestSupport
import Testing

private let listPlace = ProcessInfo.processInfo.environment[CommandList.variable].map {
  URL(filePath: $0)
}

/// The process of a `CommandList`.
@Suite(.enabled(if: listPlace != nil, "runs in a process of its own"))
struct CommandListTests {
  @Test func `each command ends within its limits`() throws {
    let place = try #require(listPlace)
    let list = try CommandList(reading: place)
    let variables = changed(
      ProcessInfo.processInfo.environment, by: ["CI": nil, "NO_COLOR": nil])
    for (number, words) in list.commands.enumerated() {
      try #require(CommandInside.canRun(words, changing: []))
      try Self.limit(list)
      let command = CommandInside(
        arguments: words, variables: variables, folder: URL(filePath: list.folder),
        secondsMax: 600)
      try list.keep(try command.run(), of: number, in: place)
    }
  }

  /// Limits what the process may use to what it has used, and what the next command may use.
  private static func limit(_ list: CommandList) throws {
    #if os(Linux)
      var used = rusage()
      try #require(getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &used) == 0)
      let seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec + list.processorSecondsMax
      // The system ends the process at the first limit, and denies memory at the second one.
      try limit(RLIMIT_CPU, to: seconds)
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmData:") })
      let kibibytes = try #require(Int(line.split { $0 == "\t" || $0 == " " }[1]))
      try limit(RLIMIT_DATA, to: kibibytes << 10 + list.dataBytesMax)
    #endif
  }

  #if os(Linux)
    private static func limit(_ resource: __rlimit_resource, to value: Int) throws {
      let number = __rlimit_resource_t(resource.rawValue)
      var limits = rlimit()
      try #require(getrlimit(number, &limits) == 0)
      limits.rlim_cur = min(rlim_t(value), limits.rlim_max)
      try #require(setrlimit(number, &limits) == 0)
    }
  #endif
}
