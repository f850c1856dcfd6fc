package utf8text

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weftdb/weft/internal/sqlerr"
)

// TestInvalid puts bad bytes behind texts of many lengths.
func TestInvalid(t *testing.T) {
	for _, filler := range []string{"a", "ä", "€", "𝄞", "a€", "\x7f"} {
		for length := range 26 {
			text := strings.Repeat(filler, 26)[:length]
			for !utf8.ValidString(text) {
				text = text[:len(text)-1]
			}
			if got := InvalidString(text); got != -1 {
				t.Fatalf("%q: invalid at %d", text, got)
			}
			for _, bad := range []string{"\x00", "\x80", "\xff", "\xc3", "\xc3(", "\xe2\x82", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf5\x80\x80\x80", "\xc0\x80"} {
				for _, tail := range []string{"", "tail of it", "ä"} {
					if got := InvalidString(text + bad + tail); got != len(text) {
						t.Fatalf("%q: got %d, want %d", text+bad+tail, got, len(text))
					}
				}
			}
		}
	}
}

// TestInvalidRandom compares with the standard library on random bytes.
func TestInvalidRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		b := make([]byte, random.IntN(24))
		for i := range b {
			b[i] = "ab\xc3\xa4\xe2\x82\xac\x00\xff"[random.IntN(9)]
		}
		want := utf8.Valid(b) && bytes.IndexByte(b, 0) < 0
		if got := Invalid(b); (got == -1) != want {
			t.Fatalf("%q: got %d, valid %t", b, got, want)
		}
	}
}

func TestError(t *testing.T) {
	for text, want := range map[string]string{
		"a\xff": "0xff", "a\xc3(": "0xc3 0x28", "\xe2\x82\n": "0xe2 0x82 0x0a", "\xe2\x82": "0xe2 0x82",
		"\x00": "0x00", "\xed\xa0\x80x": "0xed 0xa0 0x80", "\xf5\x80\x80\x80": "0xf5 0x80 0x80 0x80", "\x80\x80": "0x80",
	} {
		err := Check(text)
		if sqlerr.CodeOf(err) != sqlerr.CharacterNotInRepertoire || !strings.HasSuffix(err.(*sqlerr.Error).Message, `encoding "UTF8": `+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func BenchmarkInvalid(b *testing.B) {
	for name, text := range map[string]string{"ascii": "1234,customer name,1992-01-01,12.50\n", "german": "1234,Straße größe Köln,1992-01-01,12.50\n", "cyrillic": "улица,город\n"} {
		b.Run(name, func(b *testing.B) {
			data := []byte(strings.Repeat(text, 1000))
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if Invalid(data) >= 0 {
					b.Fatal("valid text is refused")
				}
			}
		})
	}
}
