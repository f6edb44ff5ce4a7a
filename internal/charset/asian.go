package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// eastAsian knows Japanese by its kana and Chinese by the characters that every
// text has; whatever lacks them, or has a byte that does not fit, is left to
// others. So Latin-1, which has neither, is not mistaken, and Korean, whose
// bytes are as those of Chinese, is not either.
func eastAsian(head []byte) (Charset, bool) {
	for _, c := range []Charset{
		{Name: "Shift-JIS", codec: japanese.ShiftJIS},
		{Name: "EUC-JP", codec: japanese.EUCJP},
		{Name: "GB18030", codec: simplifiedchinese.GB18030},
	} {
		text, err := c.codec.NewDecoder().Bytes(head)
		if err != nil {
			continue
		}
		if n, ok := classify(string(text), len(head) >= Sniff); ok && n.fits(head, c.codec == simplifiedchinese.GB18030) {
			return c, true
		}
	}
	return Charset{}, false
}

// script counts the characters of a text that are not ASCII.
type script struct{ kana, narrow, ideographs, frequent, signs, others int }

// classify fails for a text with what is no character; cut allows one at its
// end.
func classify(text string, cut bool) (script, bool) {
	var n script
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf:
		case r == utf8.RuneError:
			if !cut || len(text)-i > 2*utf8.UTFMax {
				return n, false
			}
		case r >= 'ぁ' && r <= 'ヿ':
			n.kana++
		case r >= '｡' && r <= 'ﾟ': // narrow kana, which are the capitals of Latin-1
			n.narrow++
		case unicode.Is(unicode.Han, r):
			n.ideographs++
			if strings.ContainsRune(frequent, r) {
				n.frequent++
			}
		case r >= '\u3000' && r <= '〿', r >= '！' && r <= '～':
			n.signs++
		default:
			n.others++
		}
	}
	return n, true
}

// fits asks for a decent share of what tells the language, and for few
// characters that are of neither.
func (n script) fits(head []byte, chinese bool) bool {
	all := n.kana + n.narrow + n.ideographs + n.signs + n.others
	if n.others*8 > all || n.narrow*2 > all {
		return false
	}
	if chinese {
		return n.kana*8 <= all && n.frequent >= 3 && n.frequent*6 >= n.ideographs && simplified(head)
	}
	return n.kana >= 3 && n.kana*6 >= all
}

// simplified reports bytes of which nearly all pairs are in the first, simplified
// part of the Chinese set; pairs of a letter with an accent and a plain one are
// not.
func simplified(head []byte) bool {
	first, later := 0, 0
	for i := 0; i+1 < len(head); i++ {
		if head[i] < utf8.RuneSelf {
			continue
		}
		if i++; head[i-1] > 0xa0 && head[i] > 0xa0 {
			first++
		} else {
			later++
		}
	}
	return later*16 <= first
}

// frequent are characters that Chinese texts, comments and messages are full
// of: a hundred of several thousand.
const frequent = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过" +
	"发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实" +
	"文件数据字符串函返回值参错误设置取删除加新建请输入码类型初始化"
