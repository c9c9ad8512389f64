public import CRetake
import Foundation
import Retake

// SAFETY: pointers of the caller are read only before a function returns, only up to the length
// that the caller states, and only after they were compared with NULL. The engine receives copies,
// except of planes that the caller lends: see `Loan`.

// The declarations of retake.h, which the compiler compares with these. retake.h documents each
// function for callers. Each function takes C values, converts them, and calls the Swift code.
#if compiler(>=6.3)

  // MARK: Errors

  /// See retake.h.
  @c @implementation
  public func retake_last_error() -> UnsafePointer<retake_error>? { ThreadState.lastError }

  /// See retake.h.
  @c @implementation
  public func retake_status_name(_ status: retake_status) -> UnsafePointer<CChar>? {
    StaticText.name(of: status)
  }

  /// See retake.h.
  @c @implementation
  public func retake_version() -> UnsafePointer<CChar>? { StaticText.version }

  /// See retake.h.
  @c @implementation
  public func retake_abi() -> UInt32 { UInt32(RETAKE_ABI) }

  // MARK: Documents

  /// See retake.h.
  @c @implementation
  public func retake_document_digest(
    _ json: UnsafePointer<CChar>?, _ length: Int, _ permissions: UInt32,
    _ digest: UnsafeMutablePointer<CChar>?
  ) -> retake_status {
    answer {
      guard let digest else { throw Problem.null("digest") }
      let document = try Document(given(json, length), permissions: permissions)
      write(document.digest, to: digest)
    }
  }

  /// See retake.h.
  @c @implementation
  public func retake_document_canonical(
    _ json: UnsafePointer<CChar>?, _ length: Int, _ permissions: UInt32,
    _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ written: UnsafeMutablePointer<Int>?
  ) -> retake_status {
    answer {
      let document = try Document(given(json, length), permissions: permissions)
      let text = try document.canonicalText()
      written?.pointee = text.utf8.count
      guard capacity == 0 || buffer != nil else { throw Problem.null("buffer") }
      guard let buffer, text.utf8.count < capacity else {
        throw Problem(
          RETAKE_ERROR_BUFFER, "buffer",
          "the document has \(text.utf8.count) bytes and its zero, the buffer \(capacity)",
          advice: "Pass a buffer with one byte more than 'written'")
      }
      write(text, to: buffer)
    }
  }

  // MARK: Live pipelines

  /// See retake.h.
  @c @implementation
  public func retake_pipeline_create(
    _ json: UnsafePointer<CChar>?, _ length: Int, _ options: UnsafePointer<retake_options>?,
    _ pipeline: UnsafeMutablePointer<retake_pipeline>?
  ) -> retake_status {
    answer(inside: .result) {
      guard let pipeline else { throw Problem.null("pipeline") }
      pipeline.pointee = 0
      guard let options else { throw Problem.null("options") }
      let settings = try COptions(options)
      let data = try given(json, length)
      pipeline.pointee = try Pipelines.shared.add { try settings.pipeline(data) }
    }
  }

  /// See retake.h.
  @c @implementation
  public func retake_pipeline_push(
    _ pipeline: retake_pipeline, _ frame: UnsafePointer<retake_frame>?,
    _ sequence: UnsafeMutablePointer<Int64>?
  ) -> retake_status {
    answer(inside: .result) {
      guard let frame else { throw Problem.null("frame") }
      let target = try Pipelines.shared.pipeline(pipeline)
      let given = try CFrame(frame)
      try given.check(target.track(given.track))
      let (made, loan) = try given.make(target.loans)
      do {
        let number = try target.push(made, track: given.track)
        sequence?.pointee = Int64(number)
      } catch {
        // Before the frame is dropped, which would release the pixels.
        loan?.cancel()
        withExtendedLifetime(made) {}
        throw error
      }
    }
  }

  /// See retake.h.
  @c @implementation
  public func retake_pipeline_device(
    _ pipeline: retake_pipeline, _ kind: UnsafePointer<CChar>?, _ json: UnsafePointer<CChar>?,
    _ length: Int
  ) -> retake_status {
    answer(inside: .result) {
      let kind = try given(kind, "kind")
      let target = try Pipelines.shared.pipeline(pipeline)
      let text = String(decoding: try given(json, length), as: UTF8.self)
      try target.push(DeviceEvent(kind: kind, text: text))
    }
  }

  /// See retake.h.
  @c @implementation
  public func retake_pipeline_source_lost(
    _ pipeline: retake_pipeline, _ track: Int32, _ code: UnsafePointer<CChar>?
  ) -> retake_status {
    answer(inside: .result) {
      let code = try given(code, "code")
      let target = try Pipelines.shared.pipeline(pipeline)
      guard code.utf8.count <= 64, !code.isEmpty, code.utf8.allSatisfy({ (33...126).contains($0) })
      else {
        throw Problem.value(
          "'\(code.prefix(64))' is not a code",
          advice: "Use 1 to 64 characters of ASCII without spaces, such as source.lost")
      }
      try target.sourceLost(track: Int(track), code: code)
    }
  }

  /// See retake.h.
  @c @implementation
  public func retake_pipeline_swap(
    _ pipeline: retake_pipeline, _ node: UnsafePointer<CChar>?,
    _ options: UnsafePointer<CChar>?, _ length: Int, _ done: retake_on_swap?,
    _ context: UnsafeMutableRawPointer?
  ) -> retake_status {
    answer(inside: .result) {
      let node = try given(node, "node")
      let target = try Pipelines.shared.pipeline(pipeline)
      let changes = try givenObject(options, length)
      let answer = SwapAnswer(done, context)
      try target.swap(node, options: changes) { answer.give($0) }
    }
  }

  /// See retake.h.
  @c @implementation
  public func retake_pipeline_counts(
    _ pipeline: retake_pipeline, _ counts: UnsafeMutablePointer<retake_counts>?
  ) -> retake_status {
    answer(inside: .result) {
      guard let counts else { throw Problem.null("counts") }
      _ = try UnsafePointer(counts).checked(
        "retake_counts", size: MemoryLayout<retake_counts>.size)
      counts.pointee = try Pipelines.shared.pipeline(pipeline).counts()
    }
  }

  /// See retake.h.
  @c @implementation
  public func retake_pipeline_stop(
    _ pipeline: retake_pipeline, _ counts: UnsafeMutablePointer<retake_counts>?
  ) -> retake_status {
    answer {
      if let counts {
        _ = try UnsafePointer(counts).checked(
          "retake_counts", size: MemoryLayout<retake_counts>.size)
      }
      let target = try Pipelines.shared.pipeline(pipeline)
      let result = Result { try target.stop() }
      counts?.pointee = target.counts()
      try result.get()
    }
  }

  /// See retake.h.
  @c @implementation
  public func retake_pipeline_destroy(_ pipeline: retake_pipeline) -> retake_status {
    answer { try Pipelines.shared.remove(pipeline).destroy() }
  }

  // MARK: Replay

  /// See retake.h.
  @c @implementation
  public func retake_replay(
    _ session: UnsafePointer<CChar>?, _ json: UnsafePointer<CChar>?, _ length: Int,
    _ options: UnsafePointer<retake_replay_options>?,
    _ summary: UnsafeMutablePointer<retake_replay_summary>?
  ) -> retake_status {
    answer {
      if let summary {
        _ = try UnsafePointer(summary).checked(
          "retake_replay_summary", size: MemoryLayout<retake_replay_summary>.size)
      }
      let settings = try CReplayOptions(options)
      let document = try Document(given(json, length), permissions: settings.permissions)
      let path = try session.map { try given($0, "session") }
      let run = try settings.run(document, session: path)
      summary?.pointee = retake_replay_summary(run, document)
      if let halt = run.halt { throw Problem(haltedBy: halt) }
    }
  }

#endif
