package event

import "encoding/json"

// List is a slice that is an array on the wire even when it is empty, where a
// nil slice would be null.
type List[T any] []T

// MarshalJSON implements json.Marshaler.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// UnmarshalJSON implements json.Unmarshaler; null and a missing field are the
// same empty list.
func (l *List[T]) UnmarshalJSON(raw []byte) error {
	var items []T
	if err := json.Unmarshal(raw, &items); err != nil {
		return err
	}
	*l = items
	return nil
}
