// SPDX-License-Identifier: Apache-2.0
// The numbers of the DWARF standard (versions 2 to 5, chapter 7) and GNU's extensions that are read
// here.
#pragma once

#include <cstdint>

namespace firetower::symbolizer::dwarf {

enum Tag : uint16_t {
  kTagClassType = 0x02,
  kTagEntryPoint = 0x03,
  kTagLexicalBlock = 0x0b,
  kTagCompileUnit = 0x11,
  kTagStructureType = 0x13,
  kTagUnionType = 0x17,
  kTagInlinedSubroutine = 0x1d,
  kTagModule = 0x1e,
  kTagWithStmt = 0x22,
  kTagCatchBlock = 0x25,
  kTagInterfaceType = 0x38,
  kTagNamespace = 0x39,
  kTagSubprogram = 0x2e,
  kTagTryBlock = 0x32,
  kTagVariantPart = 0x33,
  kTagVariant = 0x19,
  kTagPartialUnit = 0x3c,
  kTagSkeletonUnit = 0x4a,
};

enum Attribute : uint16_t {
  kAtSibling = 0x01,
  kAtName = 0x03,
  kAtStmtList = 0x10,
  kAtLowPc = 0x11,
  kAtHighPc = 0x12,
  kAtLanguage = 0x13,
  kAtCompDir = 0x1b,
  kAtAbstractOrigin = 0x31,
  kAtDeclLine = 0x3b,
  kAtSpecification = 0x47,
  kAtRanges = 0x55,
  kAtCallColumn = 0x57,
  kAtCallFile = 0x58,
  kAtCallLine = 0x59,
  kAtLinkageName = 0x6e,
  kAtStrOffsetsBase = 0x72,
  kAtAddrBase = 0x73,
  kAtRnglistsBase = 0x74,
  kAtDwoName = 0x76,
  kAtMipsLinkageName = 0x2007,
  kAtGnuDwoName = 0x2130,
};

enum Form : uint16_t {
  kFormAddr = 0x01,
  kFormBlock2 = 0x03,
  kFormBlock4 = 0x04,
  kFormData2 = 0x05,
  kFormData4 = 0x06,
  kFormData8 = 0x07,
  kFormString = 0x08,
  kFormBlock = 0x09,
  kFormBlock1 = 0x0a,
  kFormData1 = 0x0b,
  kFormFlag = 0x0c,
  kFormSdata = 0x0d,
  kFormStrp = 0x0e,
  kFormUdata = 0x0f,
  kFormRefAddr = 0x10,
  kFormRef1 = 0x11,
  kFormRef2 = 0x12,
  kFormRef4 = 0x13,
  kFormRef8 = 0x14,
  kFormRefUdata = 0x15,
  kFormIndirect = 0x16,
  kFormSecOffset = 0x17,
  kFormExprloc = 0x18,
  kFormFlagPresent = 0x19,
  kFormStrx = 0x1a,
  kFormAddrx = 0x1b,
  kFormRefSup4 = 0x1c,
  kFormStrpSup = 0x1d,
  kFormData16 = 0x1e,
  kFormLineStrp = 0x1f,
  kFormRefSig8 = 0x20,
  kFormImplicitConst = 0x21,
  kFormLoclistx = 0x22,
  kFormRnglistx = 0x23,
  kFormRefSup8 = 0x24,
  kFormStrx1 = 0x25,
  kFormStrx2 = 0x26,
  kFormStrx3 = 0x27,
  kFormStrx4 = 0x28,
  kFormAddrx1 = 0x29,
  kFormAddrx2 = 0x2a,
  kFormAddrx3 = 0x2b,
  kFormAddrx4 = 0x2c,
  kFormGnuRefAlt = 0x1f20,
  kFormGnuStrpAlt = 0x1f21,
};

enum UnitType : uint8_t {
  kUnitCompile = 1,
  kUnitType = 2,
  kUnitPartial = 3,
  kUnitSkeleton = 4,
  kUnitSplitCompile = 5,
  kUnitSplitType = 6,
};

enum RangeEntry : uint8_t {
  kRangeEnd = 0,
  kRangeBaseAddressx = 1,
  kRangeStartxEndx = 2,
  kRangeStartxLength = 3,
  kRangeOffsetPair = 4,
  kRangeBaseAddress = 5,
  kRangeStartEnd = 6,
  kRangeStartLength = 7,
};

enum LineOpcode : uint8_t {
  kLineExtended = 0,
  kLineCopy = 1,
  kLineAdvancePc = 2,
  kLineAdvanceLine = 3,
  kLineSetFile = 4,
  kLineSetColumn = 5,
  kLineConstAddPc = 8,
  kLineFixedAdvancePc = 9,
};
enum LineExtended : uint8_t {
  kLineEndSequence = 1,
  kLineSetAddress = 2,
  kLineDefineFile = 3,
};
enum LineContent : uint16_t { kLinePath = 1, kLineDirectoryIndex = 2 };

}  // namespace firetower::symbolizer::dwarf
