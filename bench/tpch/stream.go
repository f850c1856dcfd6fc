package tpch

// stream is the state of one column's random numbers: Lehmer's generator, 16807 x mod 2^31-1.
type stream uint64

const (
	modulus    = 1<<31 - 1
	multiplier = 16807
)

// next draws a number from 1 to modulus-1.
func (s *stream) next() uint64 {
	x := uint64(*s) * multiplier
	x = x&modulus + x>>31
	if x >= modulus {
		x -= modulus
	}
	*s = stream(x)
	return x
}

// jump moves the stream ahead by as many draws as factor stands for.
func (s *stream) jump(factor uint64) { *s = stream(mulMod(uint64(*s), factor)) }

// at returns the stream moved ahead by n draws.
func (s stream) at(n int64) stream {
	s.jump(jumpFactor(n))
	return s
}

// jumpFactor is multiplier^n mod modulus: n draws at once.
func jumpFactor(n int64) uint64 {
	factor, square := uint64(1), uint64(multiplier)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			factor = mulMod(factor, square)
		}
		square = mulMod(square, square)
	}
	return factor
}

// mulMod multiplies two numbers below modulus.
func mulMod(a, b uint64) uint64 {
	x := a * b
	x = x&modulus + x>>31
	if x >= modulus {
		x -= modulus
	}
	return x
}

// below maps a draw to 0 … n-1. dbgen divides and multiplies in double precision; for n below 2^21
// that always truncates to the integer quotient, because a draw times n is at least 1/modulus away
// from a multiple of the modulus, which is more than both rounding errors.
func below(draw, n uint64) uint64 {
	x := draw * n
	return (x + x>>31 + 1) >> 31 // x / modulus
}

// belowWide is below for any n: it rounds as dbgen does.
func belowWide(draw, n uint64) int64 { return int64(float64(draw) / modulus * float64(n)) }

// The seeds of dbgen's streams.
const (
	seedPartMfgr        stream = 1
	seedPartBrand       stream = 46831694
	seedPartType        stream = 1841581359
	seedPartSize        stream = 1193163244
	seedPartContainer   stream = 727633698
	seedText            stream = 933588178
	seedPartComment     stream = 804159733
	seedPartSuppQty     stream = 1671059989
	seedPartSuppCost    stream = 1051288424
	seedPartSuppComment stream = 1961692154
	seedOrderClerk      stream = 1171034773
	seedOrderComment    stream = 276090261
	seedOrderDate       stream = 1066728069
	seedLineQuantity    stream = 209208115
	seedLineDiscount    stream = 554590007
	seedLineTax         stream = 721958466
	seedLineInstruct    stream = 1371272478
	seedLineMode        stream = 675466456
	seedLinePart        stream = 1808217256
	seedLineSupplier    stream = 2095021727
	seedLineShipDate    stream = 1769349045
	seedLineCommitDate  stream = 904914315
	seedLineReceiptDate stream = 373135028
	seedLineReturnFlag  stream = 717419739
	seedLineComment     stream = 1095462486
	seedCustomerAddress stream = 881155353
	seedCustomerNation  stream = 1489529863
	seedCustomerPhone   stream = 1521138112
	seedCustomerBalance stream = 298370230
	seedCustomerSegment stream = 1140279430
	seedCustomerComment stream = 1335826707
	seedSupplierAddress stream = 706178559
	seedSupplierNation  stream = 110356601
	seedSupplierPhone   stream = 884434366
	seedSupplierBalance stream = 962338209
	seedSupplierComment stream = 1341315363
	seedPartName        stream = 709314158
	seedOrderPriority   stream = 591449447
	seedOrderCustomer   stream = 851767375
	seedNationComment   stream = 606179079
	seedRegionComment   stream = 1500869201
	seedOrderLines      stream = 1434868289
	seedComplaintGap    stream = 263032577
	seedComplaintKind   stream = 753643799
	seedComplaintChance stream = 202794285
	seedComplaintOffset stream = 715851524
)
