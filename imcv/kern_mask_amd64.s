//go:build amd64 && !purego

#include "textflag.h"

// Each function clears mask bits of codes outside of low … low+span, for n blocks of 64 codes. A code
// minus low is within the span if it is the smaller one of the two. The bits of a block are gathered in
// R8 and joined with the mask's word.

// func maskRange8AVX2(mask *uint64, codes *uint8, n int, low, span uint8)
TEXT ·maskRange8AVX2(SB), NOSPLIT, $0-26
	MOVQ         mask+0(FP), DI
	MOVQ         codes+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTB low+24(FP), Y0
	VPBROADCASTB span+25(FP), Y1
loop8:
	TESTQ     CX, CX
	JZ        done8
	VMOVDQU   (SI), Y2
	VMOVDQU   32(SI), Y3
	VPSUBB    Y0, Y2, Y2
	VPSUBB    Y0, Y3, Y3
	VPMINUB   Y1, Y2, Y4
	VPMINUB   Y1, Y3, Y5
	VPCMPEQB  Y4, Y2, Y2
	VPCMPEQB  Y5, Y3, Y3
	VPMOVMSKB Y2, R8
	VPMOVMSKB Y3, R9
	SHLQ      $32, R9
	ORQ       R9, R8
	ANDQ      R8, (DI)
	ADDQ      $64, SI
	ADDQ      $8, DI
	DECQ      CX
	JMP       loop8
done8:
	VZEROUPPER
	RET

// func maskRange16AVX2(mask *uint64, codes *uint16, n int, low, span uint16)
TEXT ·maskRange16AVX2(SB), NOSPLIT, $0-28
	MOVQ         mask+0(FP), DI
	MOVQ         codes+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTW low+24(FP), Y0
	VPBROADCASTW span+26(FP), Y1
loop16:
	TESTQ     CX, CX
	JZ        done16
	VMOVDQU   (SI), Y2
	VMOVDQU   32(SI), Y3
	VMOVDQU   64(SI), Y4
	VMOVDQU   96(SI), Y5
	VPSUBW    Y0, Y2, Y2
	VPSUBW    Y0, Y3, Y3
	VPSUBW    Y0, Y4, Y4
	VPSUBW    Y0, Y5, Y5
	VPMINUW   Y1, Y2, Y6
	VPMINUW   Y1, Y3, Y7
	VPMINUW   Y1, Y4, Y8
	VPMINUW   Y1, Y5, Y9
	VPCMPEQW  Y6, Y2, Y2
	VPCMPEQW  Y7, Y3, Y3
	VPCMPEQW  Y8, Y4, Y4
	VPCMPEQW  Y9, Y5, Y5
	VPACKSSWB Y3, Y2, Y2        // packs within halves: quarters 0 2 1 3
	VPACKSSWB Y5, Y4, Y4
	VPERMQ    $0xD8, Y2, Y2
	VPERMQ    $0xD8, Y4, Y4
	VPMOVMSKB Y2, R8
	VPMOVMSKB Y4, R9
	SHLQ      $32, R9
	ORQ       R9, R8
	ANDQ      R8, (DI)
	ADDQ      $128, SI
	ADDQ      $8, DI
	DECQ      CX
	JMP       loop16
done16:
	VZEROUPPER
	RET

// func maskRange32AVX2(mask *uint64, codes *uint32, n int, low, span uint32)
TEXT ·maskRange32AVX2(SB), NOSPLIT, $0-32
	MOVQ         mask+0(FP), DI
	MOVQ         codes+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVL         low+24(FP), AX
	MOVL         span+28(FP), BX
	MOVQ         AX, X0
	MOVQ         BX, X1
	VPBROADCASTD X0, Y0
	VPBROADCASTD X1, Y1
loop32:
	TESTQ     CX, CX
	JZ        done32
	XORQ      R8, R8
	MOVQ      $0, BX
block32:
	VMOVDQU   (SI), Y2
	VMOVDQU   32(SI), Y3
	VPSUBD    Y0, Y2, Y2
	VPSUBD    Y0, Y3, Y3
	VPMINUD   Y1, Y2, Y4
	VPMINUD   Y1, Y3, Y5
	VPCMPEQD  Y4, Y2, Y2
	VPCMPEQD  Y5, Y3, Y3
	VMOVMSKPS Y2, R9
	VMOVMSKPS Y3, R10
	SHLQ      $8, R10
	ORQ       R10, R9
	RORQ      $16, R8           // the first 16 bits end up lowest after four turns
	SHLQ      $48, R9
	ORQ       R9, R8
	ADDQ      $64, SI
	INCQ      BX
	CMPQ      BX, $4
	JNE       block32
	ANDQ      R8, (DI)
	ADDQ      $8, DI
	DECQ      CX
	JMP       loop32
done32:
	VZEROUPPER
	RET

// func maskRange64AVX2(mask *uint64, codes *uint64, n int, low, span uint64)
TEXT ·maskRange64AVX2(SB), NOSPLIT, $0-40
	MOVQ         mask+0(FP), DI
	MOVQ         codes+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTQ low+24(FP), Y0
	VPBROADCASTQ span+32(FP), Y1
	MOVQ         $0x8000000000000000, AX
	MOVQ         AX, X6
	VPBROADCASTQ X6, Y6
	VPXOR        Y6, Y1, Y1     // there is a signed comparison only
loop64:
	TESTQ     CX, CX
	JZ        done64
	XORQ      R8, R8
	MOVQ      $0, BX
block64:
	VMOVDQU   (SI), Y2
	VMOVDQU   32(SI), Y3
	VPSUBQ    Y0, Y2, Y2
	VPSUBQ    Y0, Y3, Y3
	VPXOR     Y6, Y2, Y2
	VPXOR     Y6, Y3, Y3
	VPCMPGTQ  Y1, Y2, Y2        // outside
	VPCMPGTQ  Y1, Y3, Y3
	VMOVMSKPD Y2, R9
	VMOVMSKPD Y3, R10
	SHLQ      $4, R10
	ORQ       R10, R9
	RORQ      $8, R8
	SHLQ      $56, R9
	ORQ       R9, R8
	ADDQ      $64, SI
	INCQ      BX
	CMPQ      BX, $8
	JNE       block64
	NOTQ      R8
	ANDQ      R8, (DI)
	ADDQ      $8, DI
	DECQ      CX
	JMP       loop64
done64:
	VZEROUPPER
	RET
