@_exported import RetakeBuffers
@_exported import RetakeCompare
@_exported import RetakeCore
@_exported import RetakeGolden
@_exported import RetakeGraph
@_exported import RetakeMedia
@_exported import RetakeRecord
@_exported import RetakeReplay
@_exported import RetakeReport
@_exported import RetakeRewrite
@_exported import RetakeRuntime
@_exported import RetakeSession
@_exported import RetakeStages
@_exported import RetakeSuite
@_exported import RetakeTimePlane

#if Bags
  @_exported import RetakeBags
#endif
#if Models
  @_exported import RetakeInference
#endif
#if Programs
  @_exported import RetakeForeign
#endif
#if Pulse
  @_exported import RetakePulse
#endif
