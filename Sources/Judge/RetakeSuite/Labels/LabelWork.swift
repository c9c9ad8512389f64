import Foundation
import RetakeBuffers
import RetakeCompare
package import RetakeCore
package import RetakeGolden
import RetakeGraph
package import RetakeSession

/// Makes the labels of a session: from a file, as drafts from a golden, or from a person's
/// corrections. Implements `retake label`, and saves for the page of `retake report serve`.
package struct LabelWork {
  package var project: Project
  /// The folder of the goldens; `nil` for the project's.
  package var goldens: String?

  package init(project: Project) { self.project = project }

  private var folder: LabelFolder { project.labelFolder }

  // MARK: Import

  /// Checks a file against a session, and writes it as the session's labels.
  ///
  /// - Parameters:
  ///   - track: The track that is labelled; `nil` if the session has one.
  ///   - replaces: Whether labels of the same kind are replaced; otherwise they are an error.
  /// - Throws: `SuiteError`, `LabelError`, and errors of the session and of the file.
  package func add(
    _ labels: LabelImport, to session: String, track: Int?, replaces: Bool
  ) throws -> LabelSummary {
    let path = try project.sessionPath(session)
    try Project.checkName(ofSession: path)
    let footage = try footage(try SessionReader(opening: path), track: track)
    let new = try labels.document(for: footage)
    let file = folder.file(footage.session).path
    let document = try folder.change(footage.session) {
      $0 = try $0.adding(new, track: footage.track, replaces: replaces, file: file)
    }
    return LabelSummary(
      document, session: footage.session, path: file, captured: footage.frames)
  }

  private func footage(_ reader: SessionReader, track: Int?) throws -> LabelFootage {
    let known = reader.tracks.map { "\($0.track)" }
    guard let track = track ?? (reader.tracks.count == 1 ? reader.tracks.first?.track : nil) else {
      throw SuiteError(
        "suite.label.track", "the session has \(counted(known.count, "track"))",
        at: reader.folder.path,
        advice: "Say which is labelled: --track \(known.first ?? "0"); it has "
          + known.joined(separator: ", "))
    }
    guard let facts = reader.tracks.first(where: { $0.track == track }) else {
      throw SuiteError(
        "suite.label.track", "the session has no track \(track)", at: reader.folder.path,
        advice: "It has \(known.joined(separator: ", "))")
    }
    let times = try reader.entries(of: track, sequences: 0..<facts.frameCount).map {
      $0.timestamp.nanoseconds
    }
    return LabelFootage(
      session: reader.folder.name, digest: try reader.inputDigest(tracks: [track]), track: track,
      frames: facts.frameCount, width: facts.width, height: facts.height,
      rotationDegrees: facts.rotationDegrees, times: times.map { $0 - (times.first ?? 0) })
  }

  // MARK: Propose

  /// Writes the results of a golden at its primary sink as drafts. Corrected frames stay.
  ///
  /// - Parameters:
  ///   - golden: `SESSION/CASE`.
  ///   - texts: Whether the first label of a box is proposed as its text.
  ///   - scalars: Names of numbers to propose, too.
  /// - Returns: The labels, and the number of frames that are proposed now.
  /// - Throws: `SuiteError`, `GoldenError`, `LabelError`.
  package func propose(
    _ golden: String, texts: Bool = false, scalars: [String] = []
  ) throws -> (summary: LabelSummary, proposed: Int) {
    let key = try key(golden)
    let library = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
    try library.requireOwn(key)
    let golden = library.folder(key)
    let reader = try SessionReader(opening: try project.sessionPath(key.session))
    let (sink, track, places, tracks) = try places(golden, key, reader)
    var delivered: [(FrameID, SinkValues)] = []
    let names = try golden.eachOutcome(at: sink) { id, lines in
      let values = SinkValues(lines)
      if values.wasDelivered { delivered.append((id, values)) }
    }
    guard let names else { throw noBoxes(key, "its results have no sink '\(sink)'") }
    var proposed = 0
    let document = try folder.change(key.session) { document in
      try project.tie(&document, to: reader, track: track)
      for (id, values) in delivered where document.frames[id]?.isDraft ?? true {
        guard id.track == track, let placement = places.placement(sink, id) else { continue }
        proposed += 1
        var frame = LabelDocument.Frame(isDraft: true)
        for detection in values.detections {
          let index = detection.classIndex
          let label = names.indices.contains(index) ? names[index] : "\(index)"
          document.note(label)
          frame.labels.boxes.append(
            LabelBox(
              box: placement.inSource(detection.box), label: label, identity: detection.identity,
              text: texts ? detection.classes.first?.label : nil))
        }
        for name in scalars { frame.labels.scalars[name] = values.scalars[name] }
        document.frames[id] = frame
      }
    }
    let summary = LabelSummary(
      document, session: key.session, path: folder.file(key.session).path,
      captured: tracks.map(\.frameCount).reduce(0, +))
    return (summary, proposed)
  }

  // MARK: Correct

  /// Writes frames as a person corrected them.
  ///
  /// - Parameters:
  ///   - frames: The new labels of each frame; `nil` for a frame that is not labelled any more.
  ///   - reader: Of the session.
  ///   - seen: The digest of the labels that the person saw.
  /// - Returns: All labels of the session.
  /// - Throws: `LabelError`, for example for a box outside of its frame; `labels.changed` if the
  ///   file has other labels than the person saw; `GoldenError.io`.
  package func correct(
    _ frames: [FrameID: LabelDocument.Frame?], of reader: SessionReader, seen: Digest128
  ) throws -> LabelDocument {
    let session = reader.folder.name
    let footage = reader.tracks.map {
      LabelFootage(
        session: session, track: $0.track, frames: $0.frameCount, width: $0.width, height: $0.height
      )
    }
    let file = folder.file(session).path
    let tracks = reader.tracks.map(\.track).filter { track in
      frames.keys.contains { $0.track == track }
    }
    return try folder.change(session, seen: seen) { document in
      for track in tracks {
        // Labels that are not tied to a recording stay so.
        let isNew = !document.frames.keys.contains { $0.track == track }
        guard isNew || document.recordings[track] != nil else { continue }
        try project.tie(&document, to: reader, track: track)
      }
      try document.correct(frames, footage: footage, file: file)
    }
  }

  private func key(_ text: String) throws -> GoldenLibrary.Key {
    let known = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens)).keys()
    guard let key = known.first(where: { $0.description == text }) else {
      throw SuiteError(
        "suite.label.noGolden", "there is no golden '\(text)'",
        advice: known.isEmpty
          ? "Make one: retake test, then: retake accept --reason \"first golden\""
          : Suggestion.advice(for: text, among: known.map(\.description)))
    }
    return key
  }

  /// The primary sink of a golden, the track of its boxes, and where the boxes are in the session's
  /// frames.
  private func places(
    _ golden: GoldenFolder, _ key: GoldenLibrary.Key, _ reader: SessionReader
  ) throws -> (sink: String, track: Int, SinkPlaces, [TrackDescription]) {
    let manifest = try golden.manifest()
    let tracks = reader.tracks.filter { manifest.input.tracks.values.contains($0.track) }
    guard let pipeline = project.pipeline(of: golden, manifest) else {
      throw noBoxes(key, "its pipeline has a program, and is not that of retake.yml any more")
    }
    guard let sink = pipeline.primarySink ?? manifest.precision.keys.sorted().first else {
      throw noBoxes(key, "its pipeline has no results")
    }
    let sources = manifest.input.tracks.compactMapValues { track in
      tracks.first { $0.track == track }.map {
        ImagePlacement(track: track, shape: ImageShape($0))
      }
    }
    guard let placement = try pipeline.picturePlacements(sources: sources)[sink] else {
      throw noBoxes(
        key, "the boxes of '\(sink)' are in several images, or each in a different region")
    }
    let shapes = FrameShapes(
      tracks, varyingTracks: Set(tracks.map(\.track).filter(reader.imagesVary)), open: { reader })
    let places = SinkPlaces(pipeline, tracks: manifest.input.tracks, shapes: shapes)
    return (sink, placement.track, places, tracks)
  }

  private func noBoxes(_ key: GoldenLibrary.Key, _ problem: String) -> SuiteError {
    SuiteError(
      "suite.label.noBoxes", "'\(key)' cannot be proposed as labels: \(problem)",
      advice: "Name a golden whose primary results node receives boxes of one camera")
  }
}

extension Project {
  /// The labels of a session; `nil` if it has no file of labels.
  ///
  /// - Parameter tracks: Tracks whose labels are used.
  /// - Throws: `LabelError.otherRecording` for labels of another recording, `StoredError`.
  package func labels(of reader: SessionReader, tracks: [Int]) throws -> LabelDocument? {
    let name = reader.folder.name
    guard let document = try labelFolder.document(of: name) else { return nil }
    for track in tracks where document.recordings[track] != nil {
      _ = try recording(of: document, reader, track)
    }
    return document
  }

  /// Stores the recording to which new labels belong.
  ///
  /// - Throws: `LabelError.otherRecording` if the labels of the track belong to another one.
  fileprivate func tie(
    _ document: inout LabelDocument, to reader: SessionReader, track: Int
  ) throws {
    document.recordings[track] = try recording(of: document, reader, track)
  }

  private func recording(
    of document: LabelDocument, _ reader: SessionReader, _ track: Int
  ) throws -> Digest128 {
    let digest = try reader.inputDigest(tracks: [track])
    let name = reader.folder.name
    guard document.recordings[track] ?? digest == digest else {
      throw LabelError.otherRecording(labelFolder.file(name).path, session: name, track: track)
    }
    return digest
  }
}
