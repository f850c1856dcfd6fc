package expr

import (
	"encoding/base64"
	"strings"

	"github.com/weftdb/weft/internal/sqlerr"
)

func errEncoding(name string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized encoding: \"%s\"", name)
}

func encodeBytes(r *row, dst []byte) ([]byte, error) {
	b := r.bytes(0)
	switch strings.ToLower(r.str(1)) {
	case "hex":
		return appendHex(dst, b), nil
	case "base64":
		text := base64.StdEncoding.EncodeToString(b)
		for ; len(text) > 76; text = text[76:] {
			dst = append(append(dst, text[:76]...), '\n')
		}
		return append(dst, text...), nil
	case "escape":
		for _, c := range b {
			switch {
			case c == 0 || c >= 0x80:
				dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			case c == '\\':
				dst = append(dst, '\\', '\\')
			default:
				dst = append(dst, c)
			}
		}
		return dst, nil
	}
	return dst, errEncoding(r.str(1))
}

func decodeBytes(r *row, dst []byte) ([]byte, error) {
	s := r.str(0)
	switch strings.ToLower(r.str(1)) {
	case "hex":
		return parseHex(dst, s)
	case "base64":
		clean := strings.Map(func(c rune) rune {
			if strings.ContainsRune(blanks, c) {
				return -1
			}
			return c
		}, s)
		b, err := base64.StdEncoding.DecodeString(clean)
		if err != nil {
			return dst, sqlerr.New(sqlerr.InvalidParameterValue, "invalid base64 end sequence").WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
		}
		return append(dst, b...), nil
	case "escape":
		return parseBytea(dst, strings.TrimPrefix(s, `\x`))
	}
	return dst, errEncoding(r.str(1))
}
