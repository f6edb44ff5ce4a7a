package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// HideEnviron blanks the secrets in this process's own environment block, which
// every child can read as /proc/PPID/environ. What Go has read from it
// (os.Getenv) stays. It is for the program's start, and does nothing where
// there is no /proc.
func HideEnviron(allow []string) error {
	stat, err := os.ReadFile("/proc/self/stat")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("hide environment: %w", err)
	}
	start, end, err := environBlock(string(stat))
	if err != nil {
		return fmt.Errorf("hide environment: %w", err)
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("hide environment: %w", err)
	}
	block := make([]byte, end-start)
	_, err = mem.ReadAt(block, start)
	if err == nil {
		blankSecrets(block, allow)
		_, err = mem.WriteAt(block, start)
	}
	if err = errors.Join(err, mem.Close()); err != nil {
		return fmt.Errorf("hide environment: %w", err)
	}
	return nil
}

// environBlock reads the addresses of the block, the fields 50 and 51 of
// /proc/PID/stat (proc(5)); the name before them may hold blanks.
func environBlock(stat string) (start, end int64, err error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const first = 50 - 3 // the fields after the name begin with number 3
	if len(fields) <= first+1 {
		return 0, 0, errors.New("/proc/self/stat does not say where it is")
	}
	start, startErr := strconv.ParseInt(fields[first], 10, 64)
	end, endErr := strconv.ParseInt(fields[first+1], 10, 64)
	if err := errors.Join(startErr, endErr); err != nil {
		return 0, 0, err
	}
	if start <= 0 || end < start {
		return 0, 0, errors.New("/proc/self/stat hides where it is")
	}
	return start, end, nil
}

// blankSecrets overwrites values in place; nothing moves, so a half-done block
// would still be a block.
func blankSecrets(block []byte, allow []string) {
	for entry := range bytes.SplitSeq(block, []byte{0}) {
		name, value, _ := bytes.Cut(entry, []byte("="))
		upper := strings.ToUpper(string(name))
		if upper == runVar || upper == sessionVar {
			continue // of the program that started this one, which finds it by them
		}
		if matches(secretNames(), upper) && !matches(allow, upper) {
			clear(value)
		}
	}
}
