import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite
@testable import RetakeSession

/// Formats beyond 8 bits and 4:2:0 keep their pixels through trim, optimize and export.
@Suite struct PixelFormRewriteTests {
  private static let names = [
    "libx265 yuv420p10le", "libx264 yuv422p10le", "libvpx-vp9 yuv440p12le",
    "prores_ks yuva444p10le", "dnxhd yuv444p10le", "ffv1 yuv420p16le", "ffv1 yuv411p",
    "ffv1 gray9le", "ffv1 gbrp14le", "ffv1 gbrap12le", "ffv1 yuva420p", "ffv1 rgb48le",
    "png pal8", "png gray16be", "png monob", "qtrle argb", "rawvideo uyvy422",
    "rawvideo yuv420p10be", "rawvideo bgr24", "gif rgb8", "apng rgb48be",
  ]
  static let forms = PixelForm.all.filter {
    names.contains($0.testDescription) && !PixelForm.missing.contains($0.codec)
  }

  /// As the preset `ffv1` of the recorder.
  private static let archive = ReplayEncoding(
    name: "ffv1", isLossless: true, isIntraOnly: true,
    format: { [.rgb, .rgba].contains($0) ? .bgra : $0 }
  ) { EncoderSettings(encoder: "ffv1", for: $0, timeBase: .milliseconds) }

  private func digests(_ path: String) throws -> [Digest128] {
    let reader = try SessionReader(opening: path, options: ReadOptions(verifiesPixels: true))
    let track = try #require(reader.tracks.first)
    return try (0..<track.frameCount).map {
      try reader.frame(FrameID(track: track.track, sequence: $0)).digest
    }
  }

  private func pixels(_ path: String) throws -> [Digest128] {
    let reader = try SessionReader(opening: path)
    let track = try #require(reader.tracks.first)
    return try (0..<track.frameCount).map {
      try reader.frame(FrameID(track: track.track, sequence: $0)).pixelDigest
    }
  }

  private func optimized(
    _ path: String, _ encoding: ReplayEncoding, into folder: TemporaryFolder
  ) throws -> OptimizeResult {
    try SessionTranscode(
      of: path,
      .init(
        target: SessionTarget(into: folder.file(encoding.name).path, name: "copy"),
        encoding: encoding, isForced: true), freeBytes: { _ in nil }, report: { _ in true }
    ).run()
  }

  @Test func `most of the forms can be made here`() { #expect(Self.forms.count >= 12) }

  @Test(arguments: forms)
  func `trimmed, copied and exported frames are the original's`(form: PixelForm) throws {
    let imported = try ImportedClip(form.clip)
    let original = try digests(imported.path)

    let trimmed = try SessionTrim(
      of: imported.path,
      .init(
        from: .milliseconds(150), to: .milliseconds(390),
        target: SessionTarget(into: imported.folder.file("Trimmed").path, name: "part"))
    ).run()
    #expect(try digests(trimmed.path) == Array(original[2..<4]))

    let color = try #require(try SessionReader(opening: imported.path).tracks.first?.color)
    let isArchived = form.format != "I444AP12"
    if !isArchived {
      // The FFV1 encoder of FFmpeg 7 takes the format.
      let refusal = code { try optimized(imported.path, Self.archive, into: imported.folder) }
      #expect([nil, "media.encode.format"].contains(refusal))
    }
    for encoding in [ReplayEncoding.raw] + (isArchived ? [Self.archive] : []) {
      let copy = try optimized(imported.path, encoding, into: imported.folder)
      // FFV1 has no RGB24 and RGBA: their bytes are in another order there.
      if encoding.name == "raw" || ![.rgb, .rgba].contains(form.format) {
        #expect(try digests(copy.path) == original, "\(encoding.name)")
      }
      #expect(try SessionReader(opening: copy.path).tracks.first?.color == color)
    }
    // NUT has every raw format, and no codec of studios.
    let isStudio = ["dnxhd", "prores_ks"].contains(form.codec)
    let file = imported.folder.file(isStudio ? "out.mov" : "out.nut")
    // A track that changes its codec gets a file for each.
    let files = try SessionExport(of: trimmed.path).media(to: file.path)
    var exported: [Digest128] = []
    for (number, media) in files.enumerated() {
      let again = try SessionImporter(
        ImportOptions(
          file: media.file, name: "again\(number)", into: imported.folder.file("Again").path)
      ).run()
      exported += try pixels(again.folder.path)
    }
    #expect(try exported == pixels(trimmed.path))
  }

  @Test(
    .enabled(if: !PixelForm.missing.contains("libx265"), "this FFmpeg has no encoder libx265"),
    arguments: ["hdr10.mp4", "hlg.mov"])
  func `media files that are written say the same about their colors`(file: String) throws {
    let form = try #require(PixelForm.all.first { $0.file == file })
    let imported = try ImportedClip(form.clip)
    let color = try imported.reader().color(of: 0)
    #expect(color.transfer != nil && color.primaries == "bt2020")

    // It begins after a key frame, so its first file is encoded.
    let trimmed = try SessionTrim(
      of: imported.path,
      .init(
        from: .milliseconds(150),
        target: SessionTarget(into: imported.folder.file("Trimmed").path, name: "part"))
    ).run()
    let copy = try optimized(imported.path, Self.archive, into: imported.folder)

    var files: [String] = []
    for path in [trimmed.path, copy.path] {
      files += SessionFolder(path: path).mediaOnDisk.map { path + "/" + $0 }
    }
    files += try SessionExport(of: trimmed.path).media(
      to: imported.folder.file("out.mkv").path
    ).map(\.file)
    #expect(files.count >= 4)
    for media in files {
      let stream = try MediaDemuxer(path: media).videoStream()
      #expect(stream.color == color, "\(media)")
    }
  }
}

extension [PixelFormat] {
  fileprivate func contains(_ name: String) -> Bool { contains { $0.rawValue == name } }
}
