import Foundation
import RetakeTestSupport
import Testing

/// A codec and a pixel format of FFmpeg, and the frames that a session of it has.
package struct PixelForm: Sendable, CustomTestStringConvertible {
  package var codec: String
  /// The encoder's pixel format.
  package var pixels: String
  /// Including its extension.
  package var file: String
  /// The encoder's other options.
  package var options: [String] = []
  /// The name of the frames' format in Retake.
  package var format: String
  /// FFmpeg's format with the same samples, if the decoder's own is rearranged.
  package var repacked: String?
  /// The pixels before the encoder, if not noise of 16 bits.
  package var before: String?

  package var testDescription: String { "\(codec) \(pixels)" }

  /// The encoders that this FFmpeg lacks.
  package static let missing: Set<String> = {
    let known = (try? runFFmpeg(arguments: ["-hide_banner", "-encoders"]).stdout) ?? ""
    let names = Set(
      known.split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst().first }
        .map(String.init))
    return Set(all.map(\.codec)).subtracting(names)
  }()

  package static let size = "50x38"
  package static let frames = 5

  /// Noise that has all bits of 16, and moves.
  private static let noise =
    "testsrc2=size=\(size):rate=10,format=gbrp16le,"
    + "geq=r='mod(X*2053+Y*811+N*9777,65536)':g='mod(X*613+Y*3001+N*5113+X*Y,65536)'"
    + ":b='mod(X*Y*127+N*3331+Y*17,65536)'"

  package var clip: Clip {
    Clip(
      name: testDescription, file: file,
      inputs: ["-f", "lavfi", "-i", before ?? Self.noise, "-frames:v", "\(Self.frames)"],
      output: ["-pix_fmt", pixels, "-c:v", codec, "-strict", "-2"] + options)
  }

  private static func form(
    _ codec: String, _ pixels: String, _ format: String, as repacked: String? = nil,
    in file: String = "clip.mkv", _ options: [String] = [], before: String? = nil
  ) -> PixelForm {
    PixelForm(
      codec: codec, pixels: pixels, file: file, options: options, format: format,
      repacked: repacked, before: before)
  }

  package static let all = phones + studio + archive + colors + packed + web

  /// HDR10 and HLG as phones record them, and other formats of cameras.
  private static let phones = [
    form(
      "libx265", "yuv420p10le", "I420P10", in: "hdr10.mp4",
      quick265 + color("smpte2084", "bt2020", "bt2020nc")),
    form(
      "libx265", "yuv420p10le", "I420P10", in: "hlg.mov",
      quick265 + color("arib-std-b67", "bt2020", "bt2020nc")),
    form("libx265", "yuv422p10le", "I422P10", quick265),
    form("libx265", "yuv444p12le", "I444P12", quick265),
    form("libx265", "gbrp10le", "GBRP10", quick265),
    form("libx265", "gray10le", "GRAY10", quick265),
    form("libx265", "gray12le", "GRAY12", quick265),
    form("libx264", "yuv420p10le", "I420P10", ["-g", "3", "-bf", "2"]),
    form("libx264", "yuv422p10le", "I422P10", in: "clip.mov", ["-bf", "0"]),
    form("libx264", "yuv444p10le", "I444P10"),
    // FFmpeg's decoder adds neutral chroma to gray.
    form("libx264", "gray10le", "I420P10"),
    form("libsvtav1", "yuv420p10le", "I420P10", ["-preset", "12"], before: large),
    form("libaom-av1", "yuv420p10le", "I420P10", in: "clip.mp4", quickAV1),
    form("libaom-av1", "yuv444p12le", "I444P12", quickAV1),
    form("libaom-av1", "gray10le", "GRAY10", quickAV1),
    form("libvpx-vp9", "yuv420p10le", "I420P10", in: "clip.webm", quickVP9),
    form("libvpx-vp9", "yuv440p", "I440", quickVP9),
    form("libvpx-vp9", "yuv440p12le", "I440P12", quickVP9),
    form("libvpx-vp9", "gbrp12le", "GBRP12", quickVP9),
  ]

  private static let quick265 = [
    "-preset", "ultrafast", "-x265-params", "log-level=none:pools=1:keyint=3:bframes=1",
  ]
  private static let quickAV1 = ["-cpu-used", "8", "-b:v", "400k"]
  private static let quickVP9 = ["-deadline", "realtime", "-cpu-used", "8", "-b:v", "400k"]
  /// SVT-AV1 encodes frames of at least 64x64.
  private static let large = noise.replacing(size, with: "96x80")

  private static func color(_ transfer: String, _ primaries: String, _ matrix: String) -> [String] {
    // FFmpeg 7 takes the labels from the frames, older ones from the options.
    [
      "-vf",
      "setparams=color_primaries=\(primaries):color_trc=\(transfer):colorspace=\(matrix):range=tv",
      "-color_trc", transfer, "-color_primaries", primaries, "-colorspace", matrix, "-color_range",
      "tv",
    ]
  }

  private static let studio = [
    form("prores_ks", "yuv422p10le", "I422P10", in: "clip.mov"),
    form("prores_ks", "yuv444p10le", "I444P12", in: "clip.mov", ["-profile:v", "4444"]),
    form("prores_ks", "yuva444p10le", "I444AP12", in: "clip.mov", ["-profile:v", "4444"]),
    form("dnxhd", "yuv422p10le", "I422P10", in: "clip.mov", hqx, before: wide),
    form(
      "dnxhd", "yuv444p10le", "I444P10", in: "clip.mov", ["-profile:v", "dnxhr_444"], before: wide),
    form("v210", "yuv422p10le", "I422P10", in: "clip.mov"),
    form("r210", "gbrp10le", "GBRP10", in: "clip.mov"),
    form("cfhd", "gbrp12le", "GBRP12", in: "clip.mov", before: wide),
    form("vc2", "yuv420p12le", "I420P12", before: wide),
    form("jpeg2000", "yuv410p", "I410", in: "clip.mov"),
    form("jpeg2000", "rgb48le", "GBRP16", as: "gbrp16le", in: "clip.mov"),
  ]

  private static let hqx = ["-profile:v", "dnxhr_hqx"]
  /// DNxHR, CineForm and VC-2 encode frames that are at least as large as their blocks.
  private static let wide = noise.replacing(size, with: "288x144")

  private static let archive =
    ["420", "422", "444"].flatMap { shape in
      [9, 10, 12, 14, 16].map { bits in
        form("ffv1", "yuv\(shape)p\(bits)le", "I\(shape)P\(bits)")
      }
    }
    + [9, 10, 12, 16].map { form("ffv1", "gray\($0)le", "GRAY\($0)") }
    + [9, 10, 12, 14, 16].map { form("ffv1", "gbrp\($0)le", "GBRP\($0)") }
    + [10, 12, 16].map { form("ffv1", "gbrap\($0)le", "GBRAP\($0)") }
    + [
      form("ffv1", "yuv440p", "I440"), form("ffv1", "yuv411p", "I411"),
      form("ffv1", "yuv410p", "I410"), form("ffv1", "yuv440p10le", "I440P10"),
      form("ffv1", "yuv440p12le", "I440P12"), form("ffv1", "yuva420p", "I420A"),
      form("ffv1", "yuva422p10le", "I422AP10"), form("ffv1", "yuva444p16le", "I444AP16"),
      form("ffv1", "rgb48le", "GBRP16", as: "gbrp16le"),
      form("ffv1", "rgba64le", "GBRAP16", as: "gbrap16le"),
      form("ffv1", "bgr0", "RGB24", as: "rgb24"), form("ffv1", "ya8", "RGBA", as: "rgba"),
      form("ffvhuff", "yuv422p14le", "I422P14"), form("ffvhuff", "gray16le", "GRAY16"),
    ]

  private static let colors = [
    form("ffvhuff", "rgb24", "RGB24", as: "rgb24"),
    form("utvideo", "gbrp", "RGB24", as: "rgb24"),
    form("utvideo", "gbrap", "RGBA", as: "rgba"),
    form("magicyuv", "yuva444p", "I444A"),
    form("png", "rgb48be", "GBRP16", as: "gbrp16le"),
    form("png", "rgba64be", "GBRAP16", as: "gbrap16le"),
    form("png", "gray16be", "GRAY16", as: "gray16le", in: "clip.mov"),
    form("png", "ya16be", "GBRAP16", as: "gbrap16le"),
    form("png", "pal8", "RGBA", as: "rgba", in: "clip.mov"),
    form("png", "pal8", "RGBA", as: "rgba", in: "see-through.mov", before: seeThrough),
    form("png", "monob", "GRAY8", as: "gray"),
    form("qtrle", "argb", "RGBA", as: "rgba", in: "clip.mov"),
    form("qtrle", "rgb555be", "RGB24", as: "rgb24", in: "clip.mov"),
  ]

  /// Colors of a palette, the right half without opacity.
  private static let seeThrough =
    "testsrc2=size=\(size):rate=10,format=rgba,"
    + "geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='if(gt(X,25),0,255)',split[a][b];"
    + "[a]palettegen=reserve_transparent=1:stats_mode=single[p];"
    + "[b][p]paletteuse=alpha_threshold=128:new=1"

  private static let packed =
    ["uyvy422", "yuyv422", "yvyu422"].map {
      form("rawvideo", $0, "I422", as: "yuv422p", in: "clip.nut")
    }
    + ["bgr24", "0rgb", "rgb0", "0bgr", "gbrp", "rgb565le", "bgr555be"].map {
      form("rawvideo", $0, "RGB24", as: "rgb24", in: "clip.nut")
    }
    + [
      form("rawvideo", "nv21", "I420", as: "yuv420p", in: "clip.nut"),
      form("rawvideo", "abgr", "RGBA", as: "rgba", in: "clip.nut"),
      form("rawvideo", "yuv420p10be", "I420P10", as: "yuv420p10le", in: "clip.nut"),
      form("rawvideo", "yuv422p16be", "I422P16", as: "yuv422p16le", in: "clip.nut"),
      form("rawvideo", "bgr48be", "GBRP16", as: "gbrp16le", in: "clip.nut"),
      form("rawvideo", "gray14le", "GRAY14", in: "clip.nut"),
      form("rawvideo", "yuva444p12le", "I444AP12", in: "clip.nut"),
      form("rawvideo", "monow", "GRAY8", as: "gray", in: "clip.nut"),
    ]

  private static let web = [
    form("gif", "rgb8", "BGRA", in: "clip.gif"),
    form("apng", "rgba", "RGBA", in: "clip.apng"),
    form("apng", "pal8", "RGBA", as: "rgba", in: "palette.apng"),
    form("apng", "rgb48be", "GBRP16", as: "gbrp16le", in: "deep.apng"),
  ]
}
