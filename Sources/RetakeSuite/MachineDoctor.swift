import Foundation
import RetakeCore
import RetakeGolden
import RetakeMedia
import RetakeReport
import RetakeStages

/// Checks the machine: what Retake needs, whether it is present, and how to fix what is not.
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
    /// What was found, or what does not work without it.
    package var detail: String
    /// The command that fixes it.
    package var command: String?
  }

  /// The folder in which Retake runs.
  package var folder: String

  package init(folder: String) {
    self.folder = folder
  }

  package func run() -> [Check] {
    libraries + codecs + [tool("ffmpeg", "comparisons with FFmpeg's own frames in the tests")]
      + [models, temporaryFolder, project]
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
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let found = folders.map { "\($0)/\(name)" }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    if let found { return Check(name: name, state: .present, detail: found) }
    return Check(
      name: name, state: .advisable, detail: "needed for \(purpose)",
      command: "apt-get install \(name)")
  }

  /// Everything but models works without their library, so none is not a failure.
  private var models: Check {
    do {
      let library = try ModelLibrary.find()
      return Check(
        name: "ONNX Runtime", state: .present,
        detail: "\(library.version), kernels \(KernelClass.current.rawValue), \(library.path)")
    } catch let error as any CodedError {
      let isMissing = error.code == "inference.library.missing"
      let cause = error.cause.map { " (\($0))" } ?? ""
      return Check(
        name: "ONNX Runtime", state: .advisable,
        detail: (isMissing ? "not found" : error.message + cause)
          + "; only models (.onnx) need it",
        command: error.advice)
    } catch {
      requirementFailure("the library throws coded errors alone")
    }
  }

  private var temporaryFolder: Check {
    do {
      // In the way in which runs make theirs, so that whatever hinders a run is found here.
      let scratch = try ScratchDirectory()
      scratch.remove()
      return Check(name: "temporary folder", state: .present, detail: "can be written")
    } catch {
      return Check(
        name: "temporary folder", state: .missing, detail: error.description,
        command: "export TMPDIR=DIR, where DIR can be written")
    }
  }

  private var project: Check {
    do {
      let project = try Project(reading: folder)
      return project.hasFile
        ? Check(
          name: "retake.yml", state: .present,
          detail: Wording.count(project.cases.count, "case") + ", "
            + Wording.count(project.sessionNames.count, "session"))
        : Check(
          name: "retake.yml", state: .advisable,
          detail: "none here: 'retake test' needs --pipeline",
          command: "retake test SESSION --pipeline example:motion-boxes")
    } catch {
      return Check(
        name: "retake.yml", state: .invalid, detail: error.description, command: error.advice)
    }
  }
}
