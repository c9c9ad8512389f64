import Foundation
import RetakeCore
import RetakeGolden
package import RetakeGraph
import RetakeMedia
import RetakeProcess
import RetakeReplay
import RetakeReport

/// Checks the machine and the project: each requirement of Retake, whether it is met, and how to
/// meet it.
package struct MachineDoctor {
  package struct Check: Hashable, Sendable, Codable {
    package enum State: String, Hashable, Sendable, Codable {
      case present
      /// Something works less well without it.
      case advisable
      case missing
      /// It is present but cannot be used.
      case invalid
    }

    package var name: String
    package var state: State
    /// The version or path that was found, or the features that do not work without it.
    package var detail: String
    /// The command that fixes it.
    package var command: String?
  }

  /// Reads the project of the folder in which Retake runs, with the stages of the program.
  private let readProject: () throws -> Project
  private let modelSupport: ModelSupport?

  /// - Parameter models: `nil` without the kinds of models.
  package init(models: ModelSupport?, project: @escaping () throws -> Project) {
    modelSupport = models
    readProject = project
  }

  package func run() -> [Check] {
    libraries + codecs + [tool("ffmpeg", "comparisons with FFmpeg's own frames in the tests")]
      + models + [swiftStages, temporaryFolder, sandbox] + project
  }

  private var libraries: [Check] {
    [Check(name: "platform", state: .present, detail: PlatformKey.current.description)]
      + MediaLibraries.versions.map { line in
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        return Check(name: words[0], state: .present, detail: words.dropFirst().joined())
      }
  }

  private var codecs: [Check] {
    // Footage of other codecs can still be imported, so a missing decoder is only advice. Without
    // its encoders Retake cannot record.
    let decoders = ["h264", "hevc", "mjpeg", "mpeg4", "ffv1", "vp9", "av1"].map { name in
      MediaLibraries.hasDecoder(codec: name)
        ? Check(name: "decoder \(name)", state: .present, detail: "footage can be imported")
        : Check(
          name: "decoder \(name)", state: .advisable, detail: "such footage cannot be imported",
          command: "apt-get install libavcodec-extra")
    }
    let encoders = ["ffv1", "mpeg4", "mjpeg"].map { name in
      MediaLibraries.hasEncoder(name)
        ? Check(name: "encoder \(name)", state: .present, detail: "sessions can be recorded")
        : Check(
          name: "encoder \(name)", state: .missing, detail: "recording needs it",
          command: "apt-get install libavcodec-dev")
    }
    return decoders + encoders
  }

  private func tool(_ name: String, _ purpose: String) -> Check {
    if let found = ChildProcess.path(of: name) {
      return Check(name: name, state: .present, detail: found)
    }
    return Check(
      name: name, state: .advisable, detail: "needed for \(purpose)",
      command: "apt-get install \(name)")
  }

  /// Only models need ONNX Runtime, so a missing library is not a failure.
  private var models: [Check] {
    guard let modelSupport else { return [] }
    do {
      let library = try modelSupport.library()
      return [
        Check(
          name: "ONNX Runtime", state: .present,
          detail: "\(library.version), kernels \(KernelClass.current.rawValue), \(library.path)")
      ]
    } catch let error as any CodedError {
      let isMissing = error.code == "inference.library.missing"
      let cause = error.cause.map { " (\($0))" } ?? ""
      return [
        Check(
          name: "ONNX Runtime", state: .advisable,
          detail: (isMissing ? "not found" : error.message + cause)
            + "; only models (.onnx) need it",
          command: error.advice)
      ]
    } catch {
      requirementFailure("the library throws coded errors alone")
    }
  }

  /// Only `retake build` needs the modules and a compiler that can read them.
  private var swiftStages: Check {
    let name = "stages in Swift"
    do {
      let files = try DevelopmentFiles.find()
      let compiler = try files.requireCompiler()
      return Check(
        name: name, state: .present,
        detail: "\(files.compiler), \(compiler), modules in \(files.folder)")
    } catch {
      var check = Self.failed(name, .advisable, error)
      check.detail += "; only 'retake build' needs them"
      return check
    }
  }

  private var temporaryFolder: Check {
    do {
      // In the way in which runs make theirs, so that whatever hinders a run is found here.
      let scratch = try ScratchFolder.ofRun()
      scratch.remove()
      return Check(name: "temporary folder", state: .present, detail: "can be written")
    } catch {
      return Check(
        name: "temporary folder", state: .missing, detail: error.causeText,
        command: "export TMPDIR=DIR, where DIR can be written")
    }
  }

  /// Tried in a new process, because a container may have the layers and refuse them.
  private var sandbox: Check {
    let name = "restricted process"
    let layers = Sandbox.layers
    guard let landlock = layers.landlock, layers.hasSeccomp else {
      return Check(
        name: name, state: .advisable,
        detail:
          "no \(layers.landlock == nil ? "Landlock" : "seccomp"): an import of a file of others "
          + "is not restricted, or in part",
        command: "use a Linux kernel of version 5.13 or later, with Landlock")
    }
    do {
      let scratch = try ScratchFolder.ofRun()
      defer { scratch.remove() }
      let (own, foreign) = (scratch.file("own"), scratch.file("foreign"))
      try FileManager.default.createDirectory(at: own, withIntermediateDirectories: false)
      try Data([0]).write(to: foreign)
      let breach = try Sandbox.trial(own: own.path, foreign: foreign.path)
      guard breach.isEmpty else {
        return Check(
          name: name, state: .advisable, detail: "it does not hold here (\(breach.rawValue))",
          command: "import files of others on another machine")
      }
      return Check(
        name: name, state: .present,
        detail: "Landlock \(landlock), seccomp and the memory limit hold, for imports")
    } catch {
      return Check(name: name, state: .advisable, detail: "not tried: \(error.causeText)")
    }
  }

  private var project: [Check] {
    do {
      let project = try readProject()
      guard project.hasFile else { return [Self.noProject(project)] }
      let check = Check(
        name: Project.fileName, state: .present,
        detail: Wording.count(project.cases.count, "case") + ", "
          + Wording.count(project.sessionNames.count, "session"))
      return [check] + project.cases.compactMap { Self.problem(of: $0, in: project) }
        + Self.missingSessions(of: project)
    } catch {
      return [Self.failed(Project.fileName, .invalid, error)]
    }
  }

  private static func noProject(_ project: Project) -> Check {
    let command = "retake test SESSION --pipeline example:motion-boxes"
    guard let folder = project.enclosing else {
      return Check(
        name: Project.fileName, state: .advisable,
        detail: "not here: 'retake test' needs --pipeline",
        command: command)
    }
    return Check(
      name: Project.fileName, state: .advisable,
      detail: "not here: the file of this project is in another folder, where commands run",
      command: "cd \(folder.shellWord)")
  }

  private static func failed(_ name: String, _ state: Check.State, _ error: any Error) -> Check {
    let coded = error as? any CodedError
    return Check(
      name: name, state: state,
      detail: coded.map { error in
        (error.place.map { "\($0): " } ?? "") + error.message
          + (error.cause.map { " (\($0))" } ?? "")
      } ?? error.causeText, command: coded?.advice)
  }

  /// The problem that would keep `retake test` from running the case; `nil` if the case can run.
  private static func problem(of testCase: CaseDefinition, in project: Project) -> Check? {
    do {
      // Every option is read, and every model that it names.
      _ = try project.pipeline(testCase.pipeline)
      _ = try testCase.costs.load(session: nil) { try project.costPath($0) }
      return nil
    } catch ReplayError.noSessionCosts {
      // The timings of a session are read with the session.
      return nil
    } catch {
      return failed("case \(testCase.name)", .invalid, error)
    }
  }

  /// Sessions that a suite names and that do not exist. They may be stored elsewhere, so this is
  /// advice.
  private static func missingSessions(of project: Project) -> [Check] {
    // Sorted, because the order of a Dictionary differs from process to process.
    project.suites.keys.sorted().flatMap { suite in
      let names = (project.suites[suite] ?? []).flatMap(\.sessions)
      return names.filter { name in
        !Glob.isPattern(name) && (try? project.sessionPlace(name)) == nil
      }.map { name in
        Check(
          name: "suite \(suite)", state: .advisable,
          detail: "there is no session '\(name)' in \(project.recordings)",
          command: "copy it there, or name another one in \(Project.fileName)")
      }
    }
  }
}
