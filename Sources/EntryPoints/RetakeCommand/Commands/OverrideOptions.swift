import ArgumentParser
import Retake

/// Events of a run in addition to the events of the session.
struct OverrideOptions: ParsableArguments {
  @Option(
    name: .customLong("override"),
    help: ArgumentHelp(
      "Inject an event into the run; repeat for several.",
      discussion: """
        An event of the device: thermal=serious@12s, memory=warning@3.5s, \
        battery=15,charging@3s, orientation=portrait@1s. \
        Other options for a stage: 'swap:motion@4s={"threshold": 30}', or when a frame arrives, \
        with time to prepare: 'swap:motion@frame100,prepare=80ms={"threshold": 30}'.
        """, valueName: "what"))
  var texts: [String] = []

  func validate() throws {
    for text in texts {
      do {
        _ = try CaseOverride(parsing: text)
      } catch let error as ReplayError {
        throw ValidationError(error.description)
      }
    }
  }

  var parsed: [CaseOverride] { texts.compactMap { try? CaseOverride(parsing: $0) } }
}
